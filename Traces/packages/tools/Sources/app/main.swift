import Library

@freestanding(expression) macro answer() -> Int = #externalMacro(module: "Macros", type: "Answer")

@inline(never) func expanded(_ value: Int) -> Int {
    print(value)
    return value
}

print(twice(generated(#answer)))
