internal import Glibc
internal import TraceAnalysis
internal import TraceFile
public import TraceFindings
internal import TraceText

/// A launch plan as a file: a JSON object with `tasks`, each with `id`, and `category`, `dependencies`, `thread`, `priority` and
/// `expected_ns` as far as they are wanted.
public enum LaunchManifest {
    /// Why a file is no plan; one line, with its place.
    public struct Problem: Error, CustomStringConvertible {
        public let description: String
    }

    /// A plan is not larger.
    private static let mostBytes = 64 << 20

    /// - Throws: ``Problem``.
    public static func read(_ path: String) throws(Problem) -> LaunchPlan {
        func fail() -> Problem { Problem(description: "\(path): \(String(cString: strerror(errno)))") }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw fail() }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 1 << 16)
        while bytes.count < mostBytes {
            let count = Glibc.read(descriptor, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw fail() }
            if count == 0 { break }
            bytes += piece[..<count]
        }
        return try plan(bytes, path)
    }

    static func plan(_ bytes: [UInt8], _ path: String) throws(Problem) -> LaunchPlan {
        func fail(_ text: String) -> Problem { Problem(description: "\(path): \(text)") }
        let parsed = bytes.withUnsafeBytes { bytes in
            var parser = JSONParser(bytes)
            return parser.parse()
        }
        guard let value = parsed else { throw fail("not JSON") }
        guard case .array(let items)? = value["tasks"] else {
            throw fail("a plan is an object with a list 'tasks'")
        }
        var tasks: [LaunchPlan.Task] = []
        for (index, item) in items.enumerated() {
            guard case .object(let members) = item, let id = item["id"]?.string, !id.isEmpty else {
                throw fail("task \(index + 1) has no 'id'")
            }
            var task = LaunchPlan.Task(id: id)
            for (name, value) in members {
                switch (name, value) {
                case ("id", _), (_, .null): break
                case ("category", .string(let text)): task.category = text
                case ("thread", .string(let text)): task.thread = text
                case ("dependencies", .array(let names)):
                    task.dependencies = names.compactMap(\.string)
                    guard task.dependencies.count == names.count else {
                        throw fail("task '\(id)': 'dependencies' is a list of ids")
                    }
                case ("priority", .number(let digits)):
                    guard let number = Int(digits) else { throw fail("task '\(id)': 'priority' is a whole number") }
                    task.priority = number
                case ("expected_ns", .number):
                    guard let number = value.unsigned, number < 1 << 50 else {
                        throw fail("task '\(id)': 'expected_ns' is a time in nanoseconds")
                    }
                    task.expected = number
                case ("category", _), ("thread", _): throw fail("task '\(id)': '\(name)' is a text")
                case ("dependencies", _): throw fail("task '\(id)': 'dependencies' is a list of ids")
                case ("priority", _), ("expected_ns", _): throw fail("task '\(id)': '\(name)' is a number")
                default: throw fail("task '\(id)' has '\(name)', which no task has")
                }
            }
            tasks.append(task)
        }
        do throws(LaunchPlan.Problem) { return try LaunchPlan(tasks) } catch {
            guard case .unknown(let name, _) = error else { throw fail(error.description) }
            throw fail(error.description + NearNames(to: name, among: tasks.map(\.id)).question)
        }
    }
}

extension StartupQuery {
    /// A plan beside this start.
    public func comparison(_ plan: LaunchPlan, width: Int) -> LaunchComparison {
        LaunchComparison(plan, startup.calls, waits, width: width) { query.functions[$0].name }
    }

    /// A plan by what happened in this start.
    public func proposedPlan() throws(LaunchManifest.Problem) -> LaunchPlan {
        do throws(LaunchPlan.Problem) {
            return try LaunchPlan(proposedBy: startup.calls, waits) { query.functions[$0].name }
        } catch {
            throw LaunchManifest.Problem(description: "\(query.session.path): \(error)")
        }
    }

    /// The scopes that ran, whose names a plan may mean.
    public var scopeNames: [String] {
        Set(startup.calls.scopes.map { query.functions[$0.function].name }).sorted()
    }
}
