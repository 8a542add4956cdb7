// A server without a network: tasks send requests, and tasks answer them, which wait now and then.

struct Request: Sendable {
    var number: Int
    var answer: AsyncStream<Int>.Continuation
}

@inline(never) func digits(of number: Int) -> Int {
    var rest = number, sum = 0
    while rest > 0 {
        sum += rest % 10
        rest /= 10
    }
    return sum
}

@inline(never) func work(on number: Int) -> Int { (0..<40).reduce(0) { $0 + digits(of: number * ($1 + 1)) } }

@inline(never) func handle(_ request: Request) async {
    if request.number % 16 == 0 { try? await Task.sleep(for: .microseconds(200)) }
    request.answer.yield(work(on: request.number))
    request.answer.finish()
}

@inline(never) func ask(_ number: Int, _ server: AsyncStream<Request>.Continuation) async -> Int {
    let (answers, answer) = AsyncStream.makeStream(of: Int.self)
    server.yield(Request(number: number, answer: answer))
    return await answers.reduce(0, +)
}

@main struct Main {
    static func main() async {
        let count = CommandLine.arguments.count > 1 ? Int(CommandLine.arguments[1]) ?? 20_000 : 20_000
        let (requests, server) = AsyncStream.makeStream(of: Request.self)
        let serving = Task { for await request in requests { Task { await handle(request) } } }
        let sum = await withTaskGroup(of: Int.self) { clients in
            for client in 0..<8 {
                clients.addTask {
                    var sum = 0
                    for number in 0..<count / 8 { sum += await ask(number * 8 + client, server) }
                    return sum
                }
            }
            return await clients.reduce(0, +)
        }
        server.finish()
        await serving.value
        print(sum)
    }
}
