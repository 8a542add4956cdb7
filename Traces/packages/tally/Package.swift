// swift-tools-version: 6.0

import PackageDescription

let package = Package(
    name: "tally",
    targets: [
        .target(name: "CTally"),
        .target(name: "Engine", dependencies: ["CTally"]),
        .executableTarget(name: "tally", dependencies: ["Engine", "CTally"]),
    ]
)
