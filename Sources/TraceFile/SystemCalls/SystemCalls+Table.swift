extension SystemCalls {
    /// The table by numbers.
    static let table: [UInt32: Prototype] = {
        var table: [UInt32: Prototype] = [:]
        for line in lines.split(separator: "\n") {
            let words = line.split(separator: " ")
            let arguments = words.dropFirst(3).filter { $0 != "?" }.map {
                (name: String($0.dropFirst(2)), type: $0.first!)
            }
            table[UInt32(words[0])!] = Prototype(
                name: String(words[2]), result: words[1].first!, arguments: Array(arguments))
        }
        return table
    }()

    /// A line for each call of x86-64: its number, the type of its result, its name, and its arguments with their types.
    ///
    ///     i u l z    int, unsigned, long, unsigned long     p    an address
    ///     o x        numbers that are shown in octal or hex  s    a text
    ///     O P M A    flags of open, mmap's protection and flags, flags of what ends in `at`
    ///     S W D      a signal, where lseek counts from, a directory's descriptor
    ///
    /// `?` stands where the arguments are not known. The numbers are those of Linux's syscall_64.tbl, and the arguments those that its
    /// tracepoints `syscalls/sys_enter_*` tell of.
    private static let lines = """
        0 l read i:fd p:buffer z:count
        1 l write i:fd p:buffer z:count
        2 l open s:path O:flags o:mode
        3 l close i:fd
        4 l stat s:path p:status
        5 l fstat i:fd p:status
        6 l lstat s:path p:status
        7 l poll p:descriptors u:count i:timeout
        8 l lseek i:fd l:offset W:whence
        9 p mmap p:address z:length P:protection M:flags i:fd l:offset
        10 l mprotect p:address z:length P:protection
        11 l munmap p:address z:length
        12 p brk p:end
        13 l rt_sigaction S:signal p:action p:before z:set_size
        14 l rt_sigprocmask i:how p:set p:before z:set_size
        15 l rt_sigreturn
        16 l ioctl i:fd x:request p:argument
        17 l pread64 i:fd p:buffer z:count l:offset
        18 l pwrite64 i:fd p:buffer z:count l:offset
        19 l readv i:fd p:vectors i:count
        20 l writev i:fd p:vectors i:count
        21 l access s:path x:mode
        22 l pipe p:ends
        23 l select i:n p:read p:write p:except p:timeout
        24 l sched_yield
        25 p mremap p:address z:length z:to_length x:flags p:to
        26 l msync p:address z:length x:flags
        27 l mincore p:address z:length p:vectors
        28 l madvise p:address z:length i:advice
        29 l shmget i:key z:size i:shmflg
        30 p shmat i:shmid p:shmaddr i:shmflg
        31 l shmctl i:shmid i:cmd p:buffer
        32 l dup i:fd
        33 l dup2 u:from u:to
        34 l pause
        35 l nanosleep p:time p:rest
        36 l getitimer i:which p:value
        37 l alarm u:seconds
        38 l setitimer i:which p:value p:ovalue
        39 l getpid
        40 l sendfile i:out_fd i:in_fd p:offset z:count
        41 l socket i:family i:type i:protocol
        42 l connect i:fd p:peer i:peer_length
        43 l accept i:fd p:peer p:peer_length
        44 l sendto i:fd p:buffer z:length x:flags p:address i:addr_len
        45 l recvfrom i:fd p:buffer z:size x:flags p:address p:addr_len
        46 l sendmsg i:fd p:message x:flags
        47 l recvmsg i:fd p:message x:flags
        48 l shutdown i:fd i:how
        49 l bind i:fd p:umyaddr i:peer_length
        50 l listen i:fd i:backlog
        51 l getsockname i:fd p:usockaddr p:usockaddr_len
        52 l getpeername i:fd p:usockaddr p:usockaddr_len
        53 l socketpair i:family i:type i:protocol p:usockvec
        54 l setsockopt i:fd i:level i:option p:value i:length
        55 l getsockopt i:fd i:level i:option p:value p:length
        56 l clone x:flags p:stack p:parent_tid p:child_tid p:tls
        57 l fork
        58 l vfork
        59 l execve s:path p:arguments p:environment
        60 l exit i:status
        61 l wait4 i:pid p:status x:options p:usage
        62 l kill i:pid S:signal
        63 l uname p:name
        64 l semget i:key i:nsems i:semflg
        65 l semop i:semid p:tsops u:nsops
        66 l semctl i:semid i:semnum i:cmd z:arg
        67 l shmdt p:shmaddr
        68 l msgget i:key i:msgflg
        69 l msgsnd i:msqid p:msgp z:msgsz i:msgflg
        70 l msgrcv i:msqid p:msgp z:msgsz l:msgtyp i:msgflg
        71 l msgctl i:msqid i:cmd p:buffer
        72 l fcntl i:fd i:command z:argument
        73 l flock i:fd u:cmd
        74 l fsync i:fd
        75 l fdatasync i:fd
        76 l truncate s:path l:length
        77 l ftruncate i:fd l:length
        78 l getdents i:fd p:dirent u:count
        79 l getcwd p:buffer z:size
        80 l chdir s:path
        81 l fchdir i:fd
        82 l rename s:from s:to
        83 l mkdir s:path o:mode
        84 l rmdir s:path
        85 l creat s:path o:mode
        86 l link s:from s:to
        87 l unlink s:path
        88 l symlink s:target s:path
        89 l readlink s:path p:buffer i:size
        90 l chmod s:path o:mode
        91 l fchmod i:fd o:mode
        92 l chown s:path u:user u:group
        93 l fchown i:fd u:user u:group
        94 l lchown s:path u:user u:group
        95 l umask i:mask
        96 l gettimeofday p:tv p:tz
        97 l getrlimit u:resource p:rlim
        98 l getrusage i:who p:ru
        99 l sysinfo p:info
        100 l times p:tbuf
        101 l ptrace l:request l:pid p:address z:data
        102 l getuid
        103 l syslog i:type p:buffer i:length
        104 l getgid
        105 l setuid u:uid
        106 l setgid u:gid
        107 l geteuid
        108 l getegid
        109 l setpgid i:pid i:pgid
        110 l getppid
        111 l getpgrp
        112 l setsid
        113 l setreuid u:ruid u:euid
        114 l setregid u:rgid u:egid
        115 l getgroups i:gidsetsize p:grouplist
        116 l setgroups i:gidsetsize p:grouplist
        117 l setresuid u:ruid u:euid u:suid
        118 l getresuid p:ruidp p:euidp p:suidp
        119 l setresgid u:rgid u:egid u:sgid
        120 l getresgid p:rgidp p:egidp p:sgidp
        121 l getpgid i:pid
        122 l setfsuid u:uid
        123 l setfsgid u:gid
        124 l getsid i:pid
        125 l capget l:header l:dataptr
        126 l capset l:header l:data
        127 l rt_sigpending p:uset z:set_size
        128 l rt_sigtimedwait p:uthese p:uinfo p:uts z:set_size
        129 l rt_sigqueueinfo i:pid i:signal p:uinfo
        130 l rt_sigsuspend p:unewset z:set_size
        131 l sigaltstack p:uss p:uoss
        132 l utime s:path p:times
        133 l mknod s:path o:mode u:dev
        134 l uselib ?
        135 l personality u:personality
        136 l ustat u:dev p:buffer
        137 l statfs s:path p:buffer
        138 l fstatfs i:fd p:buffer
        139 l sysfs i:option z:arg1 z:arg2
        140 l getpriority i:which i:who
        141 l setpriority i:which i:who i:niceval
        142 l sched_setparam i:pid p:param
        143 l sched_getparam i:pid p:param
        144 l sched_setscheduler i:pid i:policy p:param
        145 l sched_getscheduler i:pid
        146 l sched_get_priority_max i:policy
        147 l sched_get_priority_min i:policy
        148 l sched_rr_get_interval i:pid p:interval
        149 l mlock p:address z:length
        150 l munlock p:address z:length
        151 l mlockall x:flags
        152 l munlockall
        153 l vhangup
        154 l modify_ldt i:func p:ptr z:bytecount
        155 l pivot_root s:new_root s:put_old
        156 l _sysctl ?
        157 l prctl i:option z:argument2 z:argument3 z:argument4 z:argument5
        158 l arch_prctl x:code p:address
        159 l adjtimex p:txc_p
        160 l setrlimit u:resource p:rlim
        161 l chroot s:path
        162 l sync
        163 l acct p:name
        164 l settimeofday p:tv p:tz
        165 l mount s:source s:target s:type x:flags p:data
        166 l umount2 s:target x:flags
        167 l swapon s:specialfile i:swap_flags
        168 l swapoff s:specialfile
        169 l reboot i:magic1 i:magic2 u:cmd p:arg
        170 l sethostname p:name i:length
        171 l setdomainname p:name i:length
        172 l iopl u:level
        173 l ioperm z:from z:num i:turn_on
        174 l create_module ?
        175 l init_module ?
        176 l delete_module ?
        177 l get_kernel_syms ?
        178 l query_module ?
        179 l quotactl u:cmd s:special u:id p:address
        180 l nfsservctl ?
        181 l getpmsg ?
        182 l putpmsg ?
        183 l afs_syscall ?
        184 l tuxcall ?
        185 l security ?
        186 l gettid
        187 l readahead i:fd l:offset z:count
        188 l setxattr s:path p:name p:value z:size x:flags
        189 l lsetxattr s:path p:name p:value z:size x:flags
        190 l fsetxattr i:fd p:name p:value z:size x:flags
        191 l getxattr s:path p:name p:value z:size
        192 l lgetxattr s:path p:name p:value z:size
        193 l fgetxattr i:fd p:name p:value z:size
        194 l listxattr s:path p:list z:size
        195 l llistxattr s:path p:list z:size
        196 l flistxattr i:fd p:list z:size
        197 l removexattr s:path p:name
        198 l lremovexattr s:path p:name
        199 l fremovexattr i:fd p:name
        200 l tkill i:tid S:signal
        201 l time p:tloc
        202 l futex p:address x:operation u:value p:timeout p:other u:other_value
        203 l sched_setaffinity i:pid u:length p:user_mask_ptr
        204 l sched_getaffinity i:pid u:length p:user_mask_ptr
        205 l set_thread_area ?
        206 l io_setup u:nr_events p:ctxp
        207 l io_destroy z:ctx
        208 l io_getevents z:ctx_id l:min_nr l:nr p:events p:timeout
        209 l io_submit z:ctx_id l:nr p:iocbpp
        210 l io_cancel z:ctx_id p:iocb p:result
        211 l get_thread_area ?
        212 l lookup_dcookie ?
        213 l epoll_create i:size
        214 l epoll_ctl_old ?
        215 l epoll_wait_old ?
        216 l remap_file_pages p:address z:size z:protection z:pgoff x:flags
        217 l getdents64 i:fd p:dirent u:count
        218 l set_tid_address p:tidptr
        219 l restart_syscall
        220 l semtimedop i:semid p:tsops u:nsops p:timeout
        221 l fadvise64 i:fd l:offset z:length i:advice
        222 l timer_create i:clock p:timer_event_spec p:created_timer_id
        223 l timer_settime i:timer_id x:flags p:new_setting p:old_setting
        224 l timer_gettime i:timer_id p:setting
        225 l timer_getoverrun i:timer_id
        226 l timer_delete i:timer_id
        227 l clock_settime i:clock p:tp
        228 l clock_gettime i:clock p:tp
        229 l clock_getres i:clock p:tp
        230 l clock_nanosleep i:clock x:flags p:time p:rest
        231 l exit_group i:status
        232 l epoll_wait i:epfd p:events i:maxevents i:timeout
        233 l epoll_ctl i:epfd i:operation i:fd p:event
        234 l tgkill i:pid i:tid S:signal
        235 l utimes s:path p:times
        236 l vserver ?
        237 l mbind p:address z:length z:mode p:nmask z:maxnode x:flags
        238 l set_mempolicy i:mode p:nmask z:maxnode
        239 l get_mempolicy p:policy p:nmask z:maxnode p:address x:flags
        240 l mq_open p:u_name i:oflag o:mode p:u_attr
        241 l mq_unlink p:u_name
        242 l mq_timedsend i:mqdes p:u_msg_ptr z:msg_len u:msg_prio p:u_abs_timeout
        243 l mq_timedreceive i:mqdes p:u_msg_ptr z:msg_len p:u_msg_prio p:u_abs_timeout
        244 l mq_notify i:mqdes p:u_notification
        245 l mq_getsetattr i:mqdes p:u_mqstat p:u_omqstat
        246 l kexec_load ?
        247 l waitid i:which i:pid p:infop i:options p:ru
        248 l add_key p:type p:description p:payload z:plen i:ringid
        249 l request_key p:type p:description p:callout_info i:destringid
        250 l keyctl i:option z:arg2 z:arg3 z:arg4 z:arg5
        251 l ioprio_set i:which i:who i:ioprio
        252 l ioprio_get i:which i:who
        253 l inotify_init
        254 l inotify_add_watch i:fd s:path u:mask
        255 l inotify_rm_watch i:fd i:wd
        256 l migrate_pages i:pid z:maxnode p:old_nodes p:new_nodes
        257 l openat D:dirfd s:path O:flags o:mode
        258 l mkdirat D:dirfd s:path o:mode
        259 l mknodat D:dirfd s:path o:mode u:dev
        260 l fchownat D:dirfd s:path u:owner u:group A:flags
        261 l futimesat D:dirfd s:path p:times
        262 l newfstatat D:dirfd s:path p:status A:flags
        263 l unlinkat D:dirfd s:path A:flags
        264 l renameat D:fromdirfd s:from D:todirfd s:to
        265 l linkat D:fromdirfd s:from D:todirfd s:to A:flags
        266 l symlinkat s:target D:dirfd s:path
        267 l readlinkat D:dirfd s:path p:buffer i:size
        268 l fchmodat D:dirfd s:path o:mode
        269 l faccessat D:dirfd s:path x:mode
        270 l pselect6 i:n p:read p:write p:except p:tsp p:signal
        271 l ppoll p:descriptors u:count p:tsp p:sigmask z:set_size
        272 l unshare z:unshare_flags
        273 l set_robust_list p:head z:length
        274 l get_robust_list i:pid p:head_ptr p:len_ptr
        275 l splice i:fd_in p:off_in i:fd_out p:off_out z:length x:flags
        276 l tee i:fdin i:fdout z:length x:flags
        277 l sync_file_range i:fd l:offset l:nbytes x:flags
        278 l vmsplice i:fd p:uiov z:nr_segs x:flags
        279 l move_pages i:pid z:nr_pages p:pages p:nodes p:status x:flags
        280 l utimensat D:dirfd s:path p:times A:flags
        281 l epoll_pwait i:epfd p:events i:maxevents i:timeout p:sigmask z:set_size
        282 l signalfd i:ufd p:user_mask z:sizemask
        283 l timerfd_create i:clockid x:flags
        284 l eventfd u:count
        285 l fallocate i:fd i:mode l:offset l:length
        286 l timerfd_settime i:ufd x:flags p:utmr p:otmr
        287 l timerfd_gettime i:ufd p:otmr
        288 l accept4 i:fd p:peer p:peer_length x:flags
        289 l signalfd4 i:ufd p:user_mask z:sizemask x:flags
        290 l eventfd2 u:count x:flags
        291 l epoll_create1 x:flags
        292 l dup3 i:from i:to x:flags
        293 l pipe2 p:ends x:flags
        294 l inotify_init1 x:flags
        295 l preadv i:fd p:vectors z:count z:pos_l z:pos_h
        296 l pwritev i:fd p:vectors z:count z:pos_l z:pos_h
        297 l rt_tgsigqueueinfo i:tgid i:pid i:signal p:uinfo
        298 l perf_event_open p:attr_uptr i:pid i:cpu i:group_fd x:flags
        299 l recvmmsg i:fd p:mmsg u:count x:flags p:timeout
        300 l fanotify_init x:flags u:event_f_flags
        301 l fanotify_mark i:fanotify_fd x:flags z:mask D:dirfd s:path
        302 l prlimit64 i:pid u:resource p:limit p:before
        303 l name_to_handle_at D:dirfd p:name p:handle p:mnt_id x:flag
        304 l open_by_handle_at D:mountdirfd p:handle x:flags
        305 l clock_adjtime i:clock p:utx
        306 l syncfs i:fd
        307 l sendmmsg i:fd p:mmsg u:count x:flags
        308 l setns i:fd x:flags
        309 l getcpu p:cpup p:nodep p:unused
        310 l process_vm_readv i:pid p:lvec z:liovcnt p:rvec z:riovcnt x:flags
        311 l process_vm_writev i:pid p:lvec z:liovcnt p:rvec z:riovcnt x:flags
        312 l kcmp i:pid1 i:pid2 i:type z:idx1 z:idx2
        313 l finit_module ?
        314 l sched_setattr i:pid p:uattr x:flags
        315 l sched_getattr i:pid p:uattr u:usize x:flags
        316 l renameat2 D:fromdirfd s:from D:todirfd s:to x:flags
        317 l seccomp u:operation x:flags p:uargs
        318 l getrandom p:buffer z:count x:flags
        319 l memfd_create s:name x:flags
        320 l kexec_file_load ?
        321 l bpf i:cmd p:uattr u:size
        322 l execveat D:dirfd s:path p:arguments p:environment A:flags
        323 l userfaultfd x:flags
        324 l membarrier i:cmd x:flags i:cpu_id
        325 l mlock2 p:address z:length x:flags
        326 l copy_file_range i:fd_in p:off_in i:fd_out p:off_out z:length x:flags
        327 l preadv2 i:fd p:vectors z:count z:pos_l z:pos_h x:flags
        328 l pwritev2 i:fd p:vectors z:count z:pos_l z:pos_h x:flags
        329 l pkey_mprotect p:address z:length z:protection i:pkey
        330 l pkey_alloc x:flags z:init_val
        331 l pkey_free i:pkey
        332 l statx D:dirfd s:path A:flags x:mask p:status
        333 l io_pgetevents z:ctx_id l:min_nr l:nr p:events p:timeout p:usig
        334 l rseq p:rseq u:rseq_len x:flags x:signature
        335 l uretprobe ?
        424 l pidfd_send_signal i:pidfd i:signal p:info x:flags
        425 l io_uring_setup u:entries p:params
        426 l io_uring_enter i:fd u:to_submit u:min_complete x:flags p:argp z:argsz
        427 l io_uring_register i:fd u:opcode p:arg u:nr_args
        428 l open_tree D:dirfd s:path x:flags
        429 l move_mount i:from_dfd s:from_pathname i:to_dfd s:to_pathname x:flags
        430 l fsopen p:fs_name x:flags
        431 l fsconfig i:fd u:cmd p:key p:value i:aux
        432 l fsmount i:fs_fd x:flags u:attr_flags
        433 l fspick D:dirfd s:path x:flags
        434 l pidfd_open i:pid x:flags
        435 l clone3 p:uargs z:size
        436 l close_range i:fd i:max_fd x:flags
        437 l openat2 D:dirfd s:path p:how z:usize
        438 l pidfd_getfd i:pidfd i:fd x:flags
        439 l faccessat2 D:dirfd s:path x:mode x:flags
        440 l process_madvise i:pidfd p:vectors z:count i:advice x:flags
        441 l epoll_pwait2 i:epfd p:events i:maxevents p:timeout p:sigmask z:set_size
        442 l mount_setattr D:dirfd s:path x:flags p:uattr z:usize
        443 l quotactl_fd i:fd u:cmd u:id p:address
        444 l landlock_create_ruleset p:attr l:size x:flags
        445 l landlock_add_rule i:ruleset_fd p:rule_type p:rule_attr x:flags
        446 l landlock_restrict_self i:ruleset_fd x:flags
        447 l memfd_secret x:flags
        448 l process_mrelease i:pidfd x:flags
        449 l futex_waitv p:waiters u:nr_futexes x:flags p:timeout i:clockid
        450 l set_mempolicy_home_node p:address z:length z:home_node x:flags
        451 l cachestat ?
        452 l fchmodat2 ?
        453 l map_shadow_stack ?
        454 l futex_wake ?
        455 l futex_wait ?
        456 l futex_requeue ?
        457 l statmount ?
        458 l listmount ?
        459 l lsm_get_self_attr ?
        460 l lsm_set_self_attr ?
        461 l lsm_list_modules ?
        462 l mseal ?
        463 l setxattrat ?
        464 l getxattrat ?
        465 l listxattrat ?
        466 l removexattrat ?
        467 l open_tree_attr ?
        468 l file_getattr ?
        469 l file_setattr ?
        """
}
