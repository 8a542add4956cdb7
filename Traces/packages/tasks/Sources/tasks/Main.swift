/// `tasks COUNT MILLISECONDS`: tasks that wait that long in many ways, and what each of them did.
@main struct Main {
    static func main() async {
        let count = CommandLine.arguments.count > 1 ? Int(CommandLine.arguments[1])! : 1000
        let milliseconds = CommandLine.arguments.count > 2 ? Int(CommandLine.arguments[2])! : 200
        let counter = Counter()
        let tasks = (0..<count).map { number in
            Task.detached {
                let log = Log()
                if number % 50 == 49 { return await [log] + family(number, milliseconds, log) }
                await job(number, milliseconds, counter, log)
                return [log]
            }
        }
        for task in tasks { for log in await task.value { print(log.text) } }
    }
}
