// swift-tools-version: 6.0

import PackageDescription

// A package as somebody else's: FATHOM_PACKAGE is the directory of a git repository of Fathom with a version.
let package = Package(
    name: "control",
    dependencies: [.package(url: "file://\(Context.environment["FATHOM_PACKAGE"] ?? "")", from: "1.0.0")],
    targets: [.executableTarget(name: "control", dependencies: [.product(name: "Fathom", package: "fathom")])])
