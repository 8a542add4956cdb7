// swift-tools-version: 6.2

import PackageDescription

let strict: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

// The runtime is optimised in debug builds too: it runs in somebody else's process.
// Nor does it have hooks, and says so to whoever links it statically into what has. It keeps no frame pointers: to
// save one is a quarter of what a hook costs that records nothing. The package manager asks for them behind these flags, so
// the compiler proper is told, whom the last word reaches. What lies in traced programs has debug information that older
// debuggers read, too: valgrind 3.19 ends a program when it meets a later form.
let runtimeFlags = [
    "-std=gnu17", "-Wall", "-Wextra", "-Werror", "-O2", "-fvisibility=hidden", "-D__fathom_no_hooks",
    "-frecord-gcc-switches", "-Xclang", "-mframe-pointer=none", "-gdwarf-4",
]

// Where the compiler takes a function for cold, it makes it small, and then its table for unwinding does not hold at each
// instruction: a handler that unwinds there would end the program. Tools/cross-runtime reads this, too.
let aarch64Flags = [
    "-Xclang", "-fno-split-cold-code",
]

// Vector registers may hold what the traced program is about to need (Sources/CTraceRuntime/host/vectors.h).
// Tools/cross-runtime reads this, too.
let generalFlags = [
    "-mgeneral-regs-only"
]
#if arch(x86_64)
    let machineFlags = generalFlags
#else
    let machineFlags = aarch64Flags + generalFlags
#endif

// What pages are made of, by folder of Sources/TracePage, whose Swift files join them.
let pages: [(folder: String, files: String)] = [
    ("Shared", "common.css"),
    (
        "Flame",
        """
        picture.js data.js words.js graph.js sums.js search.js colours.js labels.js painter.js view.js waiting.js legend.js \
        tip.js sandwich.js pointer.js
        """
    ),
    ("Startup", "startup.css"), ("Article", "article.css"),
    (
        "View",
        """
        view.html view.css loader.js tiles.js frozen.js source.js book.js selection.js fuzzy.js lanes.js shades.js sieve.js \
        paint.js pictures.js wakes.js \
        timeline.js heads.js overlay.js calls.js gestures.js overview.js panes.js grid.js flamepane.js \
        comparison.js functions.js graphpage.js articlepane.js tree.js durations.js durationchange.js waitspane.js sourcepane.js \
        memorypane.js infopane.js commands.js prompt.js growing.js start.js
        """
    ),
]

let package = Package(
    name: "fathom",
    products: [
        .executable(name: "fathom", targets: ["fathom"]),
        .library(name: "Fathom", targets: ["Fathom", "CFathom"]),
        .library(name: "fathom-runtime", type: .dynamic, targets: ["CTraceRuntimeImage"]),
        .plugin(name: "FathomCommand", targets: ["FathomCommand"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2")
    ],
    targets: [
        // The on-disk layout, shared by the runtime and the reader.
        .target(name: "CTraceFormat", exclude: ["FORMAT.md"]),

        // What programs call, by C and by Swift. No unsafe flags: other packages depend on it.
        .target(name: "CFathom"),
        .target(name: "Fathom", dependencies: ["CFathom"], path: "Sources/FathomAPI", swiftSettings: strict),

        // What users of the package manager call: `swift package fathom`. It runs the fathom that is installed.
        .plugin(
            name: "FathomCommand",
            capability: .command(
                intent: .custom(
                    verb: "fathom",
                    description: "Records a product with hooks (record), or runs fathom with what follows")
            )),

        // Decodes machine code.
        .target(name: "CInstructions"),

        // In the traced process.
        .target(
            name: "CTraceRuntime", dependencies: ["CTraceFormat", "CFathom", "CInstructions"],
            cSettings: [.unsafeFlags(runtimeFlags + machineFlags)]),
        .target(
            name: "CTraceRuntimeStatic", dependencies: ["CTraceRuntime"], cSettings: [.unsafeFlags(runtimeFlags)]),
        .target(name: "CTraceSwiftHooks", cSettings: [.unsafeFlags(runtimeFlags)]),
        .target(name: "CTraceSharedHooks", cSettings: [.unsafeFlags(runtimeFlags)]),
        .target(name: "CTraceSleds", cSettings: [.unsafeFlags(runtimeFlags)]),
        .target(
            name: "CTraceRuntimeImage",
            dependencies: [
                "CTraceRuntime", "CTraceRuntimeStatic", "CTraceSwiftHooks", "CTraceSharedHooks", "CTraceSleds",
            ],
            cSettings: [.unsafeFlags(runtimeFlags)],
            // Embedded and -wmo keep the Swift runtime, which SwiftPM links into every dynamic product, out of this one.
            linkerSettings: [
                .unsafeFlags([
                    "-enable-experimental-feature", "Embedded", "-wmo",
                    "-use-ld=\(Context.packageDirectory)/Tools/link-runtime",
                    "-Xlinker", "-z", "-Xlinker", "initfirst",
                ])
            ]),

        // Reading: data flows TraceFile -> TraceAnalysis -> TraceFindings -> TraceReports or TraceExport, which both write by
        // TraceText; TraceQuery puts them together as the command line asks. TraceAnalysis replays calls and adds them up;
        // TraceFindings finds out what that means: waits, starts, tails, changes.
        // Symbols join as a resolved table.
        .systemLibrary(name: "CElfutils", pkgConfig: "libdw", providers: [.apt(["libdw-dev", "libelf-dev"])]),
        .systemLibrary(name: "CZstd", pkgConfig: "libzstd", providers: [.apt(["libzstd-dev"])]),
        // Rust's names, by libiberty, of which there is only an archive.
        .target(name: "CRustNames", linkerSettings: [.linkedLibrary("iberty")]),
        .target(name: "TraceText", swiftSettings: strict),
        // What the system is asked for everywhere: clocks, directories, programs.
        .target(name: "TraceSystem", dependencies: ["CTraceFormat", "TraceText"], swiftSettings: strict),
        .target(name: "CTracePack", dependencies: ["CTraceFormat"]),
        .target(
            name: "TraceFile", dependencies: ["CTraceFormat", "CTracePack", "CZstd", "TraceSystem", "TraceText"],
            swiftSettings: strict),
        .target(name: "TraceStatistics", swiftSettings: strict),
        .target(
            name: "TraceAnalysis", dependencies: ["TraceFile", "TraceStatistics", "TraceText"], swiftSettings: strict),
        .target(
            name: "TraceFindings", dependencies: ["TraceFile", "TraceAnalysis", "TraceStatistics"],
            swiftSettings: strict),
        .target(
            name: "TraceSymbols",
            dependencies: ["CElfutils", "CInstructions", "CRustNames", "CZstd", "TraceSystem", "TraceText"],
            swiftSettings: strict,
            linkerSettings: [.linkedLibrary("stdc++")]),
        .target(
            name: "TraceReports",
            dependencies: [
                "TraceFile", "TraceAnalysis", "TraceFindings", "TraceStatistics", "TraceHistory", "TracePage",
                "TraceText",
            ],
            swiftSettings: strict),
        .target(
            name: "TracePage", dependencies: ["CZlib", "TraceText"],
            resources: pages.flatMap { page in
                page.files.split(separator: " ").map { .embedInCode("\(page.folder)/\($0)") }
            },
            swiftSettings: strict),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .target(
            name: "TraceExport",
            dependencies: [
                "CZlib", "CZstd", "TraceFile", "TraceAnalysis", "TraceFindings", "TraceHistory", "TraceQuery",
                "TraceText",
            ],
            swiftSettings: strict),

        // Runs by the thousand: what they added up to, and what changed from one to the next.
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .target(
            name: "TraceHistory",
            dependencies: [
                "CSQLite", "TraceFile", "TraceAnalysis", "TraceFindings", "TraceStatistics", "TraceQuery",
                "TraceSystem",
                "TraceText",
            ],
            swiftSettings: strict),

        // What runs add up to while they go on, in tables that many machines write.
        .target(
            name: "TraceFleet",
            dependencies: ["TraceExport", "TraceFile", "TraceHistory", "TraceQuery", "TraceSystem", "TraceText"],
            swiftSettings: strict),

        // What somebody sees who looks through calls by keys: lines of text. Only the command line knows a terminal.
        .target(
            name: "TraceScreen", dependencies: ["TraceAnalysis", "TraceText"], swiftSettings: strict),
        // Its options from pkg-config are refused by the package manager, and not needed.
        .systemLibrary(name: "CNcurses", providers: [.apt(["libncurses-dev"])]),

        // Who serves pages to browsers. libmicrohttpd is loaded when somebody serves.
        .target(name: "CMicrohttpd"),
        .target(
            name: "TraceServe",
            dependencies: [
                "CMicrohttpd", "CTraceFormat", "TraceFile", "TraceAnalysis", "TraceFindings", "TracePage", "TraceQuery",
                "TraceSystem", "TraceText",
            ],
            swiftSettings: strict),

        // Building: stands before compilers and adds the hooks.
        .target(
            name: "TraceBuild", dependencies: ["CArguments", "TraceSymbols", "TraceSystem", "TraceText"],
            swiftSettings: strict),

        // What a machine allows: facts, and what they mean.
        .target(name: "TraceDoctor", dependencies: ["TraceBuild", "TraceText"], swiftSettings: strict),

        // Recording: starts the target, owns the session directory.
        .target(
            name: "TraceRecording", dependencies: ["CTraceFormat", "TraceFile", "TraceSystem", "TraceText"],
            swiftSettings: strict),

        // What is asked of a recording, turned into what the recorder needs: it neither prints nor exits.
        .target(
            name: "TraceRequest",
            dependencies: [
                "TraceFile", "TraceAnalysis", "TraceSymbols", "TraceQuery", "TraceRecording", "TraceBuild",
                "TraceSystem", "TraceText",
            ],
            swiftSettings: strict),

        // What is asked of a session, between the command line and what reads: it neither prints nor exits.
        .target(
            name: "TraceQuery",
            dependencies: [
                "CZstd", "TraceFile", "TraceAnalysis", "TraceFindings", "TraceSymbols", "TraceSystem", "TraceText",
            ],
            swiftSettings: strict),

        // Looking into running processes from beside: what their threads wait for, and whether they hang.
        .target(name: "CThreadStop"),
        .target(
            name: "TraceWatch",
            dependencies: [
                "CThreadStop", "CTraceFormat", "TraceFile", "TraceAnalysis", "TraceFindings", "TraceSymbols",
                "TraceQuery",
                "TraceSystem", "TraceText",
            ],
            swiftSettings: strict),

        // Bringing the runtime into running processes, and out of their way again.
        .target(
            name: "TraceAttach",
            dependencies: ["CThreadStop", "TraceFile", "TraceSymbols", "TraceSystem", "TraceWatch"],
            swiftSettings: strict),

        // What Swift's library does not always find: how this program was called.
        .target(name: "CArguments"),

        // The command line: the only code that prints or exits.
        .executableTarget(
            name: "fathom",
            dependencies: [
                "CNcurses",
                "TraceFile", "TraceAnalysis", "TraceFindings", "TraceSymbols", "TraceSystem", "TraceText",
                "TraceQuery",
                "TraceReports",
                "TraceExport", "TraceFleet", "TraceHistory", "TraceScreen", "TraceServe",
                "TraceRecording", "TraceRequest", "TraceWatch", "TraceAttach", "TraceBuild", "TraceDoctor",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: strict,
            linkerSettings: [
                .unsafeFlags(["-static-stdlib", "-use-ld=lld"]), .linkedLibrary("swiftSynchronization"),
                .linkedLibrary("_FoundationCollections"), .linkedLibrary("_FoundationCShims"),
            ]),

        .target(
            name: "TestSupport", dependencies: ["CTraceFormat", "TraceFile"], path: "Tests/TestSupport",
            swiftSettings: strict),
        .testTarget(
            name: "TraceFileTests", dependencies: ["CTraceFormat", "TraceFile", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "TraceAnalysisTests", dependencies: ["CTraceFormat", "TraceFile", "TraceAnalysis", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "TraceFindingsTests",
            dependencies: [
                "CTraceFormat", "TraceFile", "TraceAnalysis", "TraceFindings", "TraceStatistics", "TestSupport",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "TraceStatisticsTests", dependencies: ["TraceStatistics", "TestSupport"], swiftSettings: strict),
        .testTarget(
            name: "TraceSystemTests", dependencies: ["TraceSystem", "TraceText", "TestSupport"], swiftSettings: strict),
        .testTarget(name: "TraceTextTests", dependencies: ["TraceText", "TestSupport"], swiftSettings: strict),
        .testTarget(
            name: "TraceReportsTests",
            dependencies: [
                "TraceReports", "TraceFindings", "TracePage", "TraceAnalysis", "TraceFile", "TraceText", "TestSupport",
            ],
            exclude: ["Golden"],
            swiftSettings: strict),
        .testTarget(name: "TracePageTests", dependencies: ["TracePage"], swiftSettings: strict),
        .testTarget(
            name: "TraceScreenTests", dependencies: ["TraceScreen", "TraceAnalysis", "TraceText", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "TraceHistoryTests",
            dependencies: ["TraceFile", "TraceHistory", "TraceAnalysis", "TraceQuery", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "TraceFleetTests",
            dependencies: [
                "TraceFile", "TraceFleet", "TraceHistory", "TraceQuery", "TraceSystem", "TraceText", "TestSupport",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "TraceExportTests",
            dependencies: ["TraceExport", "TraceHistory", "TraceQuery", "TraceReports", "TestSupport"],
            swiftSettings: strict),
        .testTarget(name: "TraceSymbolsTests", dependencies: ["TraceSymbols", "TestSupport"], swiftSettings: strict),
        .testTarget(name: "TraceBuildTests", dependencies: ["TraceBuild", "TestSupport"], swiftSettings: strict),
        .testTarget(
            name: "TraceServeTests",
            dependencies: ["TraceFile", "TracePage", "TraceQuery", "TraceServe", "TestSupport"],
            swiftSettings: strict),
        .testTarget(name: "TraceQueryTests", dependencies: ["TraceQuery", "TestSupport"], swiftSettings: strict),
        .testTarget(
            name: "TraceRecordingTests",
            dependencies: ["CTraceFormat", "TraceFile", "TraceRecording", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "TraceRequestTests",
            dependencies: [
                "TraceAnalysis", "TraceFile", "TraceRecording", "TraceRequest", "TraceSymbols", "TestSupport",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "TraceDoctorTests", dependencies: ["TraceBuild", "TraceDoctor", "TraceText", "TestSupport"],
            exclude: ["Golden"],
            swiftSettings: strict),
        .testTarget(
            name: "EndToEndTests",
            dependencies: ["CTraceFormat", "TraceFile", "TracePage", "TraceText", "TestSupport"], exclude: ["Golden"],
            swiftSettings: strict),
    ]
)
