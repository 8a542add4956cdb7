internal import ArgumentParser
internal import Glibc

/// What completes command lines in zsh.
enum ZshCompletion {
    /// Writes it and ends, where it is asked for. The argument parser's own script offers only what stands before a name's first
    /// colon, because zsh takes the rest for a description: the colons in names get a backslash here.
    static func writeIfAsked(_ arguments: [String]) {
        guard arguments == ["--generate-completion-script", "zsh"] else { return }
        let escape = #"completions=("${(@)completions//:/\\:}")"#
        let lines = Fathom.completionScript(for: .zsh).split(separator: "\n", omittingEmptySubsequences: false)
        for line in lines {
            print(line)
            guard line.drop(while: { $0 == " " }).hasPrefix("completions=(") else { continue }
            print(line.prefix { $0 == " " } + escape)
        }
        exit(0)
    }
}
