internal import CTally

public enum Trouble: Error {
    case odd(Int)
    case deep
}

@inline(never) func check(_ number: Int) throws -> Int {
    tally("check(_:)")
    guard number % 2 == 0 else { throw Trouble.odd(number) }
    return number
}

@inline(never) func descend(_ depth: Int) throws -> Int {
    tally("descend(_:)")
    if depth == 0 { throw Trouble.deep }
    return try descend(depth - 1) + 1
}

/// Errors thrown through several frames, caught and passed on.
@inline(never) public func survive(_ numbers: Range<Int>) -> Int {
    tally("survive(_:)")
    var sum = 0
    for number in numbers {
        do {
            sum += try check(number)
            sum += try descend(number)
        } catch {
            sum -= 1
        }
    }
    return sum
}

@inline(never) func apply(_ count: Int, _ body: (Int) throws -> Int) rethrows -> Int {
    tally("apply(_:_:)")
    var sum = 0
    for index in 0..<count { sum += try body(index) }
    return sum
}

@inline(never) public func closures(_ factor: Int) -> Int {
    tally("closures(_:)")
    @inline(never) func local(_ value: Int) -> Int {
        tally("local #1 in closures(_:)")
        return value * factor
    }
    var stored: [(Int) -> Int] = []
    for offset in 0..<3 {
        stored.append { value in
            tally("closure #1 in closures(_:)")
            return value + offset
        }
    }
    let caught = try? apply(5) { value in
        tally("closure #2 in closures(_:)")
        return try check(value)
    }
    return stored.reduce(0) { sum, body in
        tally("closure #3 in closures(_:)")
        return sum + body(factor) + local(sum)
    } + (caught ?? 0)
}

/// Calls nothing: its callers count for it.
@inline(never) public func leaf(_ value: Int) -> Int { value &* 31 &+ 7 }

@inline(never) public func fibonacci(_ number: Int) -> Int {
    tally("fibonacci(_:)")
    return number < 2 ? number : fibonacci(number - 1) + fibonacci(number - 2)
}

@inline(never) public func leaves(_ count: Int) -> Int {
    tally("leaves(_:)")
    var value = count
    for _ in 0..<count {
        tally("leaf(_:)")
        value = leaf(value)
    }
    return value
}

@inline(never) public func throughC(_ count: Int32) -> Int32 {
    tally("throughC(_:)")
    repeat_call(count) { index in
        tally("closure #1 in throughC(_:)")
        _ = fibonacci(Int(index))
    }
    return header_sum(count, 1)
}
