internal import Foundation
import TestSupport
import Testing

/// Each way to wait, with what was waited for, who ended the wait, and how long it took.
@Suite struct WaitingKindsTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory("waiting-kinds") }

    private struct Case {
        /// The program's function for this case is wait_NAME.
        var name: String
        var kind: String
        var object: String?
        /// What waits, below wait_NAME.
        var place: [String]
        /// The path of who ended the wait; nil: nobody did.
        var waker: [String]?

        init(
            _ name: String, _ kind: String, _ object: String? = nil, _ place: [String]? = nil, by waker: [String]? = []
        ) {
            self.name = name
            self.kind = kind
            self.object = object
            self.place = place ?? [name]
            self.waker = waker?.isEmpty == true ? ["worker", "end_\(name)"] : waker
        }
    }

    private static let cases: [Case] =
        [
            Case("sem_wait", "semaphore", "semaphore"), Case("sem_timedwait", "semaphore", "semaphore"),
            Case("sem_clockwait", "semaphore", "semaphore"), Case("pthread_mutex_lock", "lock", "mutex"),
            Case("pthread_mutex_timedlock", "lock", "mutex"), Case("pthread_mutex_clocklock", "lock", "mutex"),
            Case("pthread_rwlock_rdlock", "lock", "rwlock"), Case("pthread_rwlock_wrlock", "lock", "rwlock"),
            Case("pthread_rwlock_timedrdlock", "lock", "rwlock"), Case("pthread_rwlock_clockwrlock", "lock", "rwlock"),
            Case("pthread_cond_wait", "condition", "condition", by: ["worker", "end_pthread_cond_wait", "change"]),
            Case(
                "pthread_cond_timedwait", "condition", "condition",
                by: ["worker", "end_pthread_cond_timedwait", "change"]),
            Case(
                "pthread_cond_clockwait", "condition", "condition",
                by: ["worker", "end_pthread_cond_clockwait", "change_for_all"]),
            Case("pthread_barrier_wait", "barrier", "barrier"), Case("pthread_join", "thread", by: ["at its end"]),
            Case("pthread_timedjoin_np", "thread", by: ["at its end"]),
            Case("pthread_once", "once", "control", by: ["worker", "prepare_pthread_once"]),
            Case("usleep", "sleep", by: nil), Case("nanosleep", "sleep", nil, ["nap", "nanosleep"], by: nil),
            Case("clock_nanosleep", "sleep", nil, ["nap_by_clock", "clock_nanosleep"], by: nil),
            Case("accept", "descriptor", nil, ["take", "accept"], by: ["worker", "end_accept", "connect_to"]),
            Case("write", "descriptor", nil, ["put", "write"], by: ["worker", "end_write", "drain"]),
            Case("recvfrom", "descriptor"),
            Case("flock", "file lock"), Case("futex", "futex", "word", ["syscall"]),
            Case("futex_lock_pi", "futex", "pi_word", ["syscall"]),
            Case("read_from_child", "descriptor", nil, ["read"], by: ["child", "make_writer", "put"]),
        ]
        + [
            ("read", "read"), ("read_chk", "read"), ("readv", "readv"), ("recv", "recv"), ("recvmsg", "recvmsg"),
            ("read_event", "read"),
        ].map {
            Case($0.0, "descriptor", nil, [$0.1], by: ["worker", "end_\($0.0)", "put"])
        }
        + [
            ("poll", "poll"), ("poll_chk", "poll"), ("ppoll", "ppoll"), ("select", "select"), ("pselect", "pselect"),
            ("epoll_wait", "epoll_wait"), ("epoll_pwait", "epoll_pwait"),
        ].map {
            Case($0.0, "poll", nil, [$0.1], by: ["worker", "end_\($0.0)", "put"])
        }
        + ["wait", "waitpid", "wait4", "waitid"].map { Case($0, "child", by: ["at its end"]) }
        + [
            Case("mtx_lock", "lock", "mtx"), Case("mtx_timedlock", "lock", "mtx"),
            Case("cnd_wait", "condition", "cnd", by: ["worker", "end_cnd_wait", "change_cnd"]),
            Case("cnd_timedwait", "condition", "cnd", by: ["worker", "end_cnd_timedwait", "change_cnd_for_all"]),
            Case("thrd_join", "thread", by: ["at its end"]),
            Case("thrd_sleep", "sleep", nil, ["nap_thrd", "thrd_sleep"], by: nil),
            Case("call_once", "once", "flag", by: ["worker", "prepare_call_once"]),
            Case("pause", "signal", by: ["worker", "end_pause", "send_until_over"]), Case("sigsuspend", "signal"),
            Case("sigwait", "signal"), Case("sigwaitinfo", "signal"), Case("sigtimedwait", "signal"),
            Case("semop", "semaphore"), Case("semtimedop", "semaphore"), Case("msgrcv", "queue"),
            Case("msgsnd", "queue"), Case("mq_receive", "queue"), Case("mq_timedreceive", "queue"),
            Case("aio_suspend", "i/o", nil, ["aio_suspend64"], by: nil),
            Case("io_getevents", "i/o", nil, ["syscall"], by: nil),
            Case("eventfd_read", "descriptor"),
            Case("recvmmsg", "descriptor", nil, ["recvmmsg"], by: ["worker", "end_recvmmsg", "put"]),
            Case("splice", "descriptor", nil, ["splice"], by: ["worker", "end_splice", "put"]),
            Case("sendfile", "descriptor", nil, ["sendfile"], by: ["worker", "end_sendfile", "drain"]),
            Case("fflush", "descriptor", nil, ["fflush"], by: ["worker", "end_fflush", "drain"]),
            Case("flockfile", "lock"), Case("ofd_lock", "file lock", nil, ["fcntl"]),
            Case("lockf", "file lock", by: ["child", "make_locker"]), Case("system", "child", by: nil),
            Case("pclose", "child", by: nil), Case("raw_sleep", "other", by: nil),
        ]
        + ["fgets", "getline", "getdelim", "fread", "fgetc"].map {
            Case($0, "descriptor", by: ["worker", "end_\($0)", "put_line"])
        }

    @Test(arguments: [
        (RecordedWaits.Way.wakings, Build.gccO2), (.switches, .gccO2), (.switches, .clangO0), (.withoutPerf, .gccO2),
    ])
    func kinds(_ way: RecordedWaits.Way, _ build: Build) throws {
        let binary = try Binaries.instrumented("waiting_kinds.c", build)
        let recorded = try RecordedWaits(binary, ["25", directory.file("lock")], way, in: directory)
        #expect(Set(recorded.measured.keys) == Set(Self.cases.map(\.name)), "the program has other cases")
        let rows = try #require(
            try recorded.json(["waits", "--thread", "main", "--limit", "0"])["waits"] as? [[String: Any]])
        var errors: [Double] = []
        for wait in Self.cases {
            let place = ["main", "wait_\(wait.name)"] + wait.place
            let found = rows.filter { $0["path"] as? [String] == place && $0["kind"] as? String == wait.kind }
            guard let row = found.max(by: { $0["total_ns"] as? Double ?? 0 < $1["total_ns"] as? Double ?? 0 }) else {
                // Where the thread came so late that what it wanted was there, the program measured nothing either.
                #expect(
                    try #require(recorded.measured[wait.name]) < 1e6,
                    "\(wait.name): no wait among \(rows.map { ($0["kind"] ?? "", $0["path"] ?? "") })")
                continue
            }
            if let object = wait.object { #expect(row["object"] as? String == object, "\(wait.name)") }
            let wakers = try #require(row["wakers"] as? [[String: Any]])
            let path = wakers.first?["path"] as? [String]
            switch wait.waker {
            case nil: #expect(wakers.isEmpty, "\(wait.name): \(wakers)")
            case ["at its end"]: #expect(path == [] && wakers.count == 1, "\(wait.name): \(wakers)")
            case let expected? where expected.first == "child":
                #expect(path?.suffix(expected.count - 1) == expected.dropFirst(), "\(wait.name): \(wakers)")
            case let expected?: #expect(path == expected && wakers.count == 1, "\(wait.name): \(wakers)")
            }
            // The program's own measurement has the time in which the thread ran, or wanted to, as well. That may be nearly all of it
            // for some waits, where others have the processors: who is waited for goes on before the thread waits.
            let time = try #require(row["total_ns"] as? Double), own = try #require(recorded.measured[wait.name])
            #expect(time <= own * 1.01, "\(wait.name): \(time) of \(own)")
            errors.append((own - time) / own)
        }
        #expect(errors.count * 10 >= Self.cases.count * 9)
        // On a quiet machine that holds of each of them.
        #expect(errors.sorted()[errors.count / 2] < 0.01, "\(errors)")
    }

    private static func hasMeasuredWaits(_ recorded: RecordedWaits) throws -> Bool {
        let locks = try recorded.json(["waits"])["locks"] as? [[String: Any]]
        guard let found = locks?.first(where: { $0["object"] as? String == "contended" })?["waited_ns"] as? Double,
            let own = recorded.measured["waited"]
        else { return false }
        return abs(found - own) <= own * 0.01
    }

    /// What is held, and for how long others wait, as the program logs it.
    @Test(arguments: RecordedWaits.Way.allCases) func locks(_ way: RecordedWaits.Way) throws {
        let binary = try Binaries.instrumented("contended.c", .gccO2)
        var recorded = try RecordedWaits.undisturbed(binary, ["10"], way, in: directory)
        // The program does not notice all that disturbs it.
        for _ in 1...5 where !(try Self.hasMeasuredWaits(recorded)) {
            recorded = try RecordedWaits.undisturbed(binary, ["10"], way, in: directory)
        }
        let waits = try recorded.json(["waits"])
        #expect(waits["processors"] as? Int == ProcessInfo.processInfo.activeProcessorCount)
        let lock = try #require((waits["locks"] as? [[String: Any]])?.first { $0["object"] as? String == "contended" })
        let held = try #require(lock["held"] as? [String: Double]),
            convoy = try #require(lock["convoy"] as? [String: Double])
        func isNear(_ found: Double?, _ name: String) -> Bool {
            guard let found, let own = recorded.measured[name] else { return false }
            return abs(found - own) <= own * 0.01
        }
        #expect(isNear(lock["waits"] as? Double, "waits") && isNear(lock["waited_ns"] as? Double, "waited"), "\(lock)")
        #expect(isNear(held["calls"].map { $0 - (held["unknown"] ?? 0) }, "holds"), "\(held) \(recorded.measured)")
        #expect(isNear(held["total_ns"], "held"), "\(held) \(recorded.measured)")
        #expect(isNear(convoy["time_ns"], "convoy"), "\(convoy) \(recorded.measured)")
        let holders = try #require(lock["holders"] as? [[String: Any]])
        #expect(
            holders.count == 3 && holders.allSatisfy { $0["path"] as? [String] == ["worker", "hold", "give_back"] })
        let text = try Fathom.run(["waits", recorded.session]).stdout
        #expect(text.contains("held while others waited for it") && text.contains("longest convoy:"), "\(text)")
    }
}
