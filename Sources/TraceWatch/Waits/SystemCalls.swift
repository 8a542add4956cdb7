/// The system calls in which threads wait, by their numbers.
package enum SystemCalls {
    /// Whether a stop may end the call with EINTR, although no handler has run (signal(7)), or make it wait anew for all of
    /// its time. The kernel takes up others where they were.
    package static func endsByStop(_ call: BlockedCall, of pid: Int32) -> Bool {
        guard let name = name(call.number) else { return true }
        if touchy.contains(name) { return true }
        // What has a time limit is a socket, and the kernel does not tell which have one.
        return transfers.contains(name) && Descriptors.endsByStop(call.arguments[0], of: pid)
    }

    /// Whether a call that has ended with EINTR has done nothing, so that it may begin again. Of others, such as `close`, that
    /// is not known.
    package static func mayBeginAgain(_ number: Int) -> Bool {
        name(number).map { touchy.union(transfers).union(others).contains($0) && $0 != "ioctl" } ?? false
    }

    /// Whether a stop may make a call that has a time limit wait anew for all of its time.
    package static func mayBeginAnew(_ call: BlockedCall, of pid: Int32) -> Bool {
        guard endsByStop(call, of: pid), let name = name(call.number) else { return false }
        return switch name {
        case "semop", "io_uring_enter": false
        case "epoll_wait", "epoll_pwait": Int32(truncatingIfNeeded: call.arguments[3]) >= 0
        case "epoll_pwait2", "semtimedop": call.arguments[3] != 0
        case "rt_sigtimedwait": call.arguments[2] != 0
        default: true
        }
    }

    private static let touchy: Set<String> = [
        "accept", "accept4", "connect", "epoll_pwait", "epoll_pwait2", "epoll_wait", "io_getevents", "io_pgetevents",
        "io_uring_enter", "ioctl", "recvfrom", "recvmmsg", "recvmsg", "rt_sigtimedwait", "semop", "semtimedop",
        "sendfile", "sendmmsg", "sendmsg", "sendto", "splice", "tee", "vmsplice",
    ]
    private static let transfers: Set<String> = [
        "preadv", "preadv2", "pread64", "pwrite64", "pwritev", "pwritev2", "read", "readv", "write", "writev",
    ]
    private static let others: Set<String> = [
        "clock_nanosleep", "fcntl", "flock", "futex", "futex_wait", "futex_waitv", "getrandom", "mq_timedreceive",
        "mq_timedsend", "msgrcv", "msgsnd", "nanosleep", "open", "openat", "poll", "ppoll", "pselect6", "select",
        "wait4", "waitid",
    ]

    /// Nil for one that is not in the table.
    static func name(_ number: Int) -> String? { names[number] }

    // The numbers are those of the kernel's tables for each machine (arch/x86/entry/syscalls/syscall_64.tbl and
    // include/uapi/asm-generic/unistd.h).
    #if arch(x86_64)
        private static let names: [Int: String] = [
            0: "read", 1: "write", 2: "open", 3: "close", 7: "poll", 16: "ioctl", 17: "pread64", 18: "pwrite64",
            19: "readv", 20: "writev", 23: "select", 24: "sched_yield", 26: "msync", 34: "pause", 35: "nanosleep",
            40: "sendfile", 42: "connect", 43: "accept", 44: "sendto", 45: "recvfrom", 46: "sendmsg", 47: "recvmsg",
            58: "vfork", 59: "execve", 61: "wait4", 65: "semop", 68: "msgget", 69: "msgsnd", 70: "msgrcv",
            72: "fcntl", 73: "flock", 74: "fsync", 75: "fdatasync", 76: "truncate", 77: "ftruncate", 82: "rename",
            83: "mkdir", 87: "unlink", 128: "rt_sigtimedwait", 130: "rt_sigsuspend", 162: "sync", 202: "futex",
            208: "io_getevents", 219: "restart_syscall", 220: "semtimedop", 230: "clock_nanosleep",
            232: "epoll_wait", 242: "mq_timedsend", 243: "mq_timedreceive", 247: "waitid", 257: "openat",
            263: "unlinkat", 270: "pselect6", 271: "ppoll", 275: "splice", 276: "tee",
            277: "sync_file_range", 278: "vmsplice", 281: "epoll_pwait", 285: "fallocate", 288: "accept4",
            295: "preadv", 296: "pwritev", 299: "recvmmsg", 306: "syncfs", 307: "sendmmsg", 318: "getrandom",
            326: "copy_file_range", 327: "preadv2", 328: "pwritev2", 333: "io_pgetevents",
            426: "io_uring_enter", 441: "epoll_pwait2", 449: "futex_waitv", 455: "futex_wait",
        ]
    #else
        private static let names: [Int: String] = [
            4: "io_getevents", 22: "epoll_pwait", 25: "fcntl", 29: "ioctl", 32: "flock", 34: "mkdirat", 35: "unlinkat",
            46: "ftruncate",
            47: "fallocate", 56: "openat", 57: "close", 63: "read", 64: "write", 65: "readv", 66: "writev",
            67: "pread64", 68: "pwrite64", 69: "preadv", 70: "pwritev", 71: "sendfile", 72: "pselect6", 73: "ppoll",
            75: "vmsplice", 76: "splice", 77: "tee", 81: "sync", 82: "fsync", 83: "fdatasync", 84: "sync_file_range",
            95: "waitid",
            98: "futex", 101: "nanosleep", 115: "clock_nanosleep", 124: "sched_yield", 128: "restart_syscall",
            133: "rt_sigsuspend", 137: "rt_sigtimedwait", 182: "mq_timedsend", 183: "mq_timedreceive",
            188: "msgrcv", 189: "msgsnd", 192: "semtimedop", 193: "semop", 202: "accept", 203: "connect",
            206: "sendto", 207: "recvfrom", 211: "sendmsg", 212: "recvmsg", 221: "execve", 227: "msync",
            242: "accept4", 243: "recvmmsg", 260: "wait4", 267: "syncfs", 269: "sendmmsg", 276: "renameat2",
            278: "getrandom",
            285: "copy_file_range", 286: "preadv2", 287: "pwritev2", 292: "io_pgetevents", 426: "io_uring_enter",
            441: "epoll_pwait2", 449: "futex_waitv", 455: "futex_wait",
        ]
    #endif

    /// Calls whose first argument is a descriptor that they wait for.
    static let ofDescriptors: Set<String> = [
        "read", "write", "pread64", "pwrite64", "readv", "writev", "preadv", "pwritev", "preadv2", "pwritev2", "close",
        "ioctl", "connect", "accept", "accept4", "sendto", "recvfrom", "sendmsg", "recvmsg", "sendmmsg", "recvmmsg",
        "fcntl", "flock", "fsync", "fdatasync", "ftruncate", "fallocate", "epoll_wait", "epoll_pwait", "epoll_pwait2",
        "mq_timedsend", "mq_timedreceive", "sync_file_range", "io_uring_enter", "splice", "copy_file_range", "syncfs",
    ]
}
