// swift-tools-version: 6.2
// What Loop costs, measured beside plain references in C. A package of its own: `swift run -c release loop-bench`.
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .treatAllWarnings(as: .error),
]

// A path dependency goes by its folder's name, whatever the clone is called.
let root = String(Context.packageDirectory.split(separator: "/").dropLast().last ?? "Loop")

let package = Package(
    name: "LoopBenchmarks",
    dependencies: [.package(path: "..")],
    targets: [
        // The same work by libzmq, libpq or system calls alone: what the machine gives without any promise.
        .target(
            name: "CReference",
            linkerSettings: [.linkedLibrary("pq"), .linkedLibrary("zmq")]),
        // Runs cases side by side; runs itself again as reducer, sender or worker of a case.
        .executableTarget(
            name: "loop-bench",
            dependencies: [
                "CReference",
                .product(name: "CBOR", package: root),
                .product(name: "LoopCore", package: root),
                .product(name: "LoopWire", package: root),
                .product(name: "LoopCluster", package: root),
                .product(name: "LoopJournal", package: root),
                .product(name: "LoopKeys", package: root),
                .product(name: "LoopNode", package: root),
                .product(name: "LoopPostgres", package: root),
                .product(name: "TestDatabase", package: root),
            ],
            swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
