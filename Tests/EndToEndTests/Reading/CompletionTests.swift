import TestSupport
import Testing

/// What shells complete when somebody types there. `HelpTests` asks bash, by its functions.
@Suite(.enabled(if: ["zsh", "fish"].allSatisfy(Toolchain.isInstalled)))
struct CompletionTests {
    @Test(arguments: ["zsh", "fish"])
    func namesWithColons(_ shell: String) throws {
        let directory = try TemporaryDirectory("completion")
        let source = """
            #include <cstdio>
            namespace worker { void done(int n) { std::printf("%d\\n", n); } void run(int n) { done(n); } }
            int main() { worker::run(1); }

            """
        _ = try directory.write(source, to: "prog.cpp")
        let binary = try Binaries.make(
            "completed", command: "g++", ["-g", "-finstrument-functions"], [directory.file("prog.cpp")])
        #expect(try Fathom.record([binary], into: directory.file("prog.fathom")).status == 0)
        try run("\(Binaries.repository)/Tools/make-completion", [Fathom.executable, directory.path])
        _ = try directory.write(
            "PS1='%% '; fpath=('\(directory.path)' $fpath); autoload -Uz compinit; compinit -u -D\n", to: ".zshrc")
        try directory.makeDirectory("fish")
        // Fish suggests what it would complete while somebody types, so the screen would show it before Tab did anything.
        let settings = """
            set -g fish_greeting
            set -g fish_autosuggestion_enabled 0
            function fish_prompt; printf '%% '; end
            source '\(directory.path)/fathom.fish'

            """
        _ = try directory.write(settings, to: "fish/config.fish")

        let terminal = try Terminal(
            columns: 100, rows: 30,
            environment: ["ZDOTDIR": directory.path, "XDG_CONFIG_HOME": directory.path, "HOME": directory.path],
            "cd '\(directory.path)'; PATH='\(Fathom.products)':\"$PATH\" \(shell)")
        // A shell may drop what is typed while it is busy, so nothing is typed before the prompt is there.
        try terminal.wait { $0.last == "%" }
        for (typed, completed) in [
            ("fathom tree -F worker::d", "fathom tree -F worker::done"), ("fathom tree pro", "fathom tree prog.fathom"),
            ("fathom report prog.fathom --callers ma", "fathom report prog.fathom --callers main"),
        ] {
            try terminal.type(typed, "Tab")
            try terminal.wait { $0.contains { $0.hasSuffix(completed) || $0.hasSuffix(completed + " ") } }
            try terminal.type("C-u")
            try terminal.wait { $0.last == "%" }
        }
    }
}
