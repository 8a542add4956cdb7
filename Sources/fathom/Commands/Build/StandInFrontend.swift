internal import ArgumentParser
internal import Glibc
internal import TraceBuild

/// What `fathom build` puts in the place of the Swift compiler's frontend: this program by another name.
enum StandInFrontend {
    /// Whether this process was started as one.
    static var isCalled: Bool {
        [SwiftBuild.frontendName, SwiftBuild.sledFrontendName].contains { name in
            GivenArguments.all[0].split(separator: "/").last.map(String.init) == name
        }
    }

    static func run() -> Never {
        do throws(BuildError) {
            let arguments = Array(GivenArguments.all.dropFirst())
            exit(try SwiftFrontend(name: GivenArguments.all[0], arguments: arguments).run())
        } catch {
            exit(Diagnostics.fail(error.description, .failed).rawValue)
        }
    }
}
