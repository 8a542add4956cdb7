internal import Glibc

/// One run of the frontend that makes object files, or files that the linker makes code of later.
struct Compilation {
    private(set) var outputs: [String] = []
    /// `-c`; `-emit-bc` where the linker optimises.
    private let goal: String
    private var rest: [String] = []
    private var codeOptions: [String] = []
    private(set) var optimizes = false
    private var outputList: String?

    /// - Returns: nil when `arguments` ask for something else, or do not compile source.
    init?(_ arguments: [String]) throws(BuildError) {
        guard arguments.first == "-frontend", let goal = arguments.first(where: { $0 == "-c" || $0 == "-emit-bc" }),
            arguments.contains(where: {
                $0.hasSuffix(".swift") || $0.hasPrefix("-filelist") || $0 == "-primary-filelist"
            })
        else { return nil }
        self.goal = goal
        var index = 1
        while index < arguments.count {
            let argument = arguments[index]
            let value = index + 1 < arguments.count ? arguments[index + 1] : nil
            index += 1
            if argument == goal { continue }
            if argument == "-o", let value {
                outputs.append(value)
                index += 1
            } else if argument == "-output-filelist", let value {
                outputList = value
                index += 1
            } else {
                rest.append(argument)
                if argument.hasPrefix("-O") {
                    optimizes = argument != "-Onone"
                    codeOptions.append(argument)
                } else if Self.codeFlags.contains(argument)
                    || ["-sanitize=", "-lto"].contains(where: { argument.hasPrefix($0) })
                {
                    codeOptions.append(argument)
                } else if Self.codeValues.contains(argument), let value {
                    codeOptions += [argument, value]
                    rest.append(value)
                    index += 1
                }
            }
        }
        if let outputList { outputs = try TextFile.read(outputList).split(separator: "\n").map(String.init) }
        guard !outputs.isEmpty else { return nil }
    }

    /// The options that the step from LLVM's assembly to code depends on.
    private static let codeFlags: Set<String> = [
        "-function-sections", "-profile-generate", "-profile-coverage-mapping", "-disable-llvm-optzns",
        "-disable-objc-interop", "-static", "-parse-as-library",
        SwiftBuild.withoutLLVMMerging,
    ]
    private static let codeValues: Set<String> = ["-target", "-target-cpu", "-Xllvm", "-module-name", "-resource-dir"]

    static func intermediate(of output: String) -> String { output + ".fathom.ll" }
    private var intermediateList: String? { outputList.map { _ in outputs[0] + ".fathom.list" } }

    var temporaries: [String] { outputs.map(Self.intermediate) + (intermediateList.map { [$0] } ?? []) }

    func prepare() throws(BuildError) {
        guard let intermediateList else { return }
        try TextFile.write(outputs.map { Self.intermediate(of: $0) + "\n" }.joined(), to: intermediateList)
    }

    /// The arguments that turn source into LLVM's assembly.
    var toIR: [String] {
        let destination = intermediateList.map { ["-output-filelist", $0] }
        return ["-frontend", "-emit-irgen"] + rest + indexUnits
            + (destination ?? outputs.flatMap { ["-o", Self.intermediate(of: $0)] })
    }

    /// Gives the index the names of the object files, by which it goes. SwiftPM finds tests in the index.
    private var indexUnits: [String] {
        let hasUnits = rest.contains { $0.hasPrefix("-index-unit-output-path") }
        guard rest.contains("-index-store-path"), !hasUnits else { return [] }
        if let outputList { return ["-index-unit-output-path-filelist", outputList] }
        return outputs.flatMap { ["-index-unit-output-path", $0] }
    }

    /// The arguments that turn LLVM's assembly into an object file, or into LLVM's binary form.
    func toObject(_ output: String) -> [String] {
        ["-frontend", goal] + codeOptions + SwiftBuild.withoutMerging
            + [Self.intermediate(of: output), "-o", output]
    }
}
