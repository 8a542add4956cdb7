internal import CTally

public actor Account {
    private var balance = 0

    public init() {}

    @inline(never) public func deposit(_ amount: Int) -> Int {
        tally("Account.deposit(_:)")
        balance += amount
        return balance
    }
}

@inline(never) func fetch(_ number: Int) async throws -> Int {
    tally("fetch(_:)")
    await Task.yield()
    if number == 3 { throw Trouble.odd(number) }
    return number
}

@inline(never) public func concurrent(_ count: Int) async -> Int {
    tally("concurrent(_:)")
    let account = Account()
    for amount in 0..<count { _ = await account.deposit(amount) }
    return await withTaskGroup(of: Int.self) { group in
        tally("closure #1 in concurrent(_:)")
        for number in 0..<count {
            group.addTask {
                tally("closure #1 in closure #1 in concurrent(_:)")
                return (try? await fetch(number)) ?? 0
            }
        }
        return await group.reduce(0, +)
    }
}
