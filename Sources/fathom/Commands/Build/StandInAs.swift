internal import ArgumentParser
internal import Glibc
internal import TraceBuild

/// What `fathom build --dormant` puts in the place of the assembler that gcc calls: this program by another name.
enum StandInAs {
    /// Whether this process was started as one.
    static var isCalled: Bool {
        GivenArguments.all[0].split(separator: "/").last.map(String.init) == StandInAssembler.name
    }

    static func run() -> Never {
        do throws(BuildError) {
            exit(try StandInAssembler.run(Array(GivenArguments.all.dropFirst())))
        } catch {
            exit(Diagnostics.fail(error.description, .failed).rawValue)
        }
    }
}
