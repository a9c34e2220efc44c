// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "NewLoop",
    platforms: [.macOS(.v26)],
    dependencies: [
        .package(name: "Loop", path: "../..")
    ],
    targets: [
        // The definition: state, events, reducer, feedbacks.
        .target(
            name: "NewLoop",
            dependencies: [
                .product(name: "LoopCollections", package: "Loop"), .product(name: "LoopCore", package: "Loop"),
            ]),
        // The programs: one reducer, any number of workers, and a client.
        .executableTarget(
            name: "newloop-reducer", dependencies: ["NewLoop", .product(name: "LoopNode", package: "Loop")]),
        .executableTarget(
            name: "newloop-worker", dependencies: ["NewLoop", .product(name: "LoopNode", package: "Loop")]),
        .executableTarget(
            name: "newloop-client",
            dependencies: [
                "NewLoop", .product(name: "LoopCore", package: "Loop"), .product(name: "LoopNode", package: "Loop"),
            ]),
        .testTarget(
            name: "NewLoopTests",
            dependencies: [
                "NewLoop", .product(name: "LoopCore", package: "Loop"),
                .product(name: "LoopSimulation", package: "Loop"),
                .product(name: "LoopTesting", package: "Loop"),
            ]),
    ],
    swiftLanguageModes: [.v6]
)
