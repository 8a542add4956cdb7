// swift-tools-version: 6.0

import CompilerPluginSupport
import PackageDescription

// Programs that the build itself runs: a macro's, which speaks the compiler's protocol by itself, and a generator of sources.
let package = Package(
    name: "tools",
    targets: [
        .macro(name: "Macros"),
        .executableTarget(name: "generator"),
        .target(name: "Library"),
        .testTarget(name: "LibraryTests", dependencies: ["Library"]),
        .plugin(name: "Generate", capability: .buildTool(), dependencies: ["generator"]),
        .executableTarget(name: "app", dependencies: ["Library", "Macros"], plugins: ["Generate"]),
    ]
)
