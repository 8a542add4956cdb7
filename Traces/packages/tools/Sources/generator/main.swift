import Glibc

/// Writes a function that the program calls.
func generate(_ path: String) -> Bool {
    guard let file = fopen(path, "w") else { return false }
    fputs("@inline(never) func generated(_ value: Int) -> Int { print(value); return value + 1 }\n", file)
    return fclose(file) == 0
}

exit(generate(CommandLine.arguments[1]) ? 0 : 1)
