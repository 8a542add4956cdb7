import Dispatch
import Glibc

struct Odd: Error {}

actor Counter {
    private var value = 0

    @inline(never) func add(_ amount: Int, _ log: Log) -> Int {
        let call = log.enter("Counter.add(_:_:)")
        defer { log.leave(call) }
        value += work(amount, log)
        return value
    }
}

@MainActor var total = 0

@MainActor @inline(never) func report(_ amount: Int, _ log: Log) {
    let call = log.enter("report(_:_:)")
    defer { log.leave(call) }
    total += work(amount, log)
}

/// Synchronous.
@inline(never) func work(_ amount: Int, _ log: Log) -> Int {
    let call = log.enter("work(_:_:)")
    defer { log.leave(call) }
    return amount + Int(getpid().signum())
}

@inline(never) func zero(_ log: Log) {
    let call = log.enter("zero(_:)")
    log.leave(call)
}

@inline(never) func one(_ log: Log) {
    let call = log.enter("one(_:)")
    log.leave(call)
}

/// Tells whose tree it is: one call a binary digit.
@inline(never) func tag(_ number: Int, _ log: Log) {
    let call = log.enter("tag(_:_:)")
    defer { log.leave(call) }
    for digit in 0..<14 {
        if number >> digit & 1 == 0 { zero(log) } else { one(log) }
    }
}

@inline(never) func pause(_ milliseconds: Int, _ log: Log) async {
    let call = log.enter("pause(_:_:)")
    let start = Log.now
    try? await Task.sleep(for: .milliseconds(milliseconds))
    log.wait(call, since: start)
    log.leave(call)
}

/// Resumed by a thread of Dispatch.
@inline(never) func callback(_ milliseconds: Int, _ log: Log) async -> Int {
    let call = log.enter("callback(_:_:)")
    let start = Log.now
    let result = await withCheckedContinuation { continuation in
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(milliseconds)) {
            continuation.resume(returning: milliseconds)
        }
    }
    log.wait(call, since: start)
    log.leave(call)
    return result
}

/// Throws from three calls down.
@inline(never) func fail(_ depth: Int, _ milliseconds: Int, _ log: Log) async throws -> Int {
    let call = log.enter("fail(_:_:_:)")
    defer { log.leave(call) }
    if depth == 0 {
        await pause(milliseconds, log)
        throw Odd()
    }
    return try await fail(depth - 1, milliseconds, log) + 1
}

/// Calls itself before and after suspending.
@inline(never) func recurse(_ depth: Int, _ milliseconds: Int, _ log: Log) async -> Int {
    let call = log.enter("recurse(_:_:_:)")
    defer { log.leave(call) }
    if depth == 0 { return work(1, log) }
    let before = await recurse(depth - 1, milliseconds, log)
    if depth == 2 { await pause(milliseconds, log) }
    return await before + recurse(depth - 1, milliseconds, log)
}

@inline(never) func child(_ number: Int, _ milliseconds: Int, _ log: Log) async -> Int {
    let call = log.enter("child(_:_:_:)")
    defer { log.leave(call) }
    tag(number, log)
    await pause(milliseconds, log)
    return work(number, log)
}

@inline(never) func job(_ number: Int, _ milliseconds: Int, _ counter: Counter, _ log: Log) async {
    let call = log.enter("job(_:_:_:_:)")
    defer { log.leave(call) }
    tag(number, log)
    var sum = 0
    switch number % 5 {
    case 0: sum += await callback(milliseconds, log)
    case 1: sum += (try? await fail(3, milliseconds, log)) ?? 0
    case 2: sum += await recurse(3, milliseconds, log)
    case 3:
        let start = Log.now
        await report(number, log)
        log.wait(call, since: start)
    default:
        for _ in 0..<3 { await pause(milliseconds, log) }
    }
    let start = Log.now
    sum += await counter.add(sum, log)
    log.wait(call, since: start)
    _ = work(sum, log)
}

/// Children of its own, each with its own log.
@inline(never) func family(_ number: Int, _ milliseconds: Int, _ log: Log) async -> [Log] {
    let call = log.enter("family(_:_:_:)")
    defer { log.leave(call) }
    tag(number, log)
    let logs = (0..<6).map { _ in Log() }
    let start = Log.now
    do {
        async let first = child(1000 + number * 8, milliseconds, logs[0])
        async let second = child(1001 + number * 8, milliseconds * 2, logs[1])
        let grouped = await withTaskGroup(of: Int.self) { group in
            for index in 2..<6 {
                group.addTask { await child(1000 + number * 8 + index, milliseconds * index, logs[index]) }
            }
            return await group.reduce(0, +)
        }
        _ = await first + second + grouped
    }
    log.wait(call, since: start)
    return logs
}
