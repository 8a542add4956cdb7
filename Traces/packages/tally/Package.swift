// swift-tools-version: 6.0

import PackageDescription

let package = Package(
    name: "tally",
    targets: [
        .target(name: "CTally"),
        .target(name: "Engine", dependencies: ["CTally"]),
        // The standard library is linked statically in one configuration, dynamically in the other.
        .executableTarget(
            name: "tally", dependencies: ["Engine", "CTally"],
            linkerSettings: [.unsafeFlags(["-static-stdlib"], .when(configuration: .release))]),
    ]
)
