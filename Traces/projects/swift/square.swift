@inline(never) func multiplied(_ value: Int32) -> Int32 {
    note()
    return value * value
}

/// C calls it back.
@_cdecl("square") public func square(_ value: Int32) -> Int32 { multiplied(value) }

@inline(never) func total(_ count: Int32) -> Int32 {
    var sum: Int32 = 0
    for number in 1...count { sum += sum_squares(number) }
    return sum
}
