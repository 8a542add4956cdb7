@inline(never) public func twice(_ value: Int) -> Int {
    print(value)
    return value * 2
}
