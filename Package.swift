// swift-tools-version: 6.2
// The targets of Loop in the order of the data flow, from the pure loop to the executables.
import PackageDescription

// LOOP_PORTABLE=1 omits what depends on one operating system or on one standard library.
let isPortable = Context.environment["LOOP_PORTABLE"] == "1"
let portable: [SwiftSetting] = isPortable ? [.define("PORTABLE")] : []

/// Settings of tests and fuzzers, which may call C and access memory freely.
let unchecked: [SwiftSetting] =
    [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .treatAllWarnings(as: .error),
    ] + portable

/// Settings of everything else: every use of unsafe code is marked `unsafe`, and each file says why its uses are safe.
let strictlySafe = unchecked + [.strictMemorySafety()]

/// A library on a layer, and what else it needs.
func library(
    _ name: String, on layer: [Target.Dependency] = [], _ others: Target.Dependency..., in folder: String = "Sources",
    settings: [SwiftSetting] = strictlySafe
) -> Target {
    .target(name: name, dependencies: layer + others, path: "\(folder)/\(name)", swiftSettings: settings)
}

func executable(_ name: String, _ dependencies: Target.Dependency..., in folder: String = "Sources") -> Target {
    .executableTarget(
        name: name, dependencies: dependencies, path: "\(folder)/\(name)", swiftSettings: strictlySafe)
}

func tests(
    _ name: String, on layer: [Target.Dependency] = [], _ others: Target.Dependency..., exclude: [String] = [],
    in folder: String = "Tests"
) -> Target {
    .testTarget(
        name: name, dependencies: layer + others, path: "\(folder)/\(name)", exclude: exclude,
        swiftSettings: unchecked)
}

// What a layer may use. Nothing below the stores can reach a file, a socket or a clock.
let loop: [Target.Dependency] = ["LoopCollections", "LoopCore"]
let machines: [Target.Dependency] = loop + ["CBOR", "LoopKeys", "LoopWire", "LoopCluster"]
let stores: [Target.Dependency] = machines + ["Linux", "LoopJournal"]
let nodes: [Target.Dependency] = stores + ["ZMQ", "LoopNode"]

/// The files of the package that `loopctl new` makes, in Examples/NewLoop.
let newPackage = [
    "Dockerfile", "Package.swift", "README.md", "Sources/NewLoop/NewLoop.swift", "Sources/NewLoop/Order.swift",
    "Sources/NewLoop/Services.swift", "Sources/newloop-client/NewLoopClient.swift",
    "Sources/newloop-reducer/NewLoopReducer.swift", "Sources/newloop-worker/NewLoopWorker.swift",
    "Tests/NewLoopTests/NewLoopTests.swift", "docker-compose.yml",
]

/// What users import.
let products = [
    "LoopCollections", "LoopCore", "LoopCompatibility", "LoopView", "LoopNode", "LoopPostgres", "LoopApp",
    "LoopTesting", "LoopSimulation", "LoopNodeTesting",
]

/// C libraries: module maps and inline shims.
let systemLibraries = [
    "Sources/CZMQ", "Sources/C/CHTTPD", "Sources/C/CLinux", "Sources/C/CMemory", "Sources/C/CPQ", "Sources/C/CSQLite",
    "Sources/C/CZLib", "Examples/CCurl", "Examples/CCMarkGFM", "Examples/CIDN",
]

let package = Package(
    name: "Loop",
    platforms: [.macOS(.v26)],
    products: products.map { .library(name: $0, targets: [$0]) }
        + ["loop-reducer", "loop-effect", "loopctl", "loop-example"].map { .executable(name: $0, targets: [$0]) },
    targets: systemLibraries.map { .systemLibrary(name: String($0.split(separator: "/").last!), path: $0) } + [
        .systemLibrary(name: "CGumbo", path: "Tests/CGumbo", pkgConfig: "gumbo"),
        // Counts allocations, for `make budgets`.
        .target(name: "CMeter", path: "Tools/CMeter"),

        // Hash tables, heaps, dictionaries that share their structure with their copies; locks.
        library("LoopCollections"),
        // The pure loop: what happens, what should be going on, and nothing that touches the world.
        library("LoopCore", "LoopCollections"),
        // The forms and names of the four libraries that LoopCore does not have.
        library("LoopCompatibility", on: loop),
        // Stores, bindings and widgets over a loop, and the renderers that need no C library.
        library("LoopView", on: loop),
        // The coder of all values: deterministic CBOR for any `Codable` type.
        library("CBOR", "CMemory", "LoopCollections"),
        // Admission: keys, roles and certificates, without files or sockets.
        library("LoopKeys"),
        // The bytes of every message between nodes.
        library("LoopWire", on: loop, "CBOR"),
        // The machines of the reducer's and the worker's side, without sockets, clocks or threads.
        library("LoopCluster", on: loop, "CBOR", "LoopKeys", "LoopWire"),
        // The system calls that take pointers, with owners and errors.
        library("Linux", "CLinux"),
        // Journals in memory and in files.
        library("LoopJournal", on: machines, "Linux", "CSQLite", "CZLib"),
        // One owner type per ZeroMQ handle.
        library("ZMQ", "CZMQ", "CLinux", "Linux", "LoopKeys"),
        // The shells around the machines: threads, sockets, signals, effects.
        library("LoopNode", on: stores, "ZMQ"),
        // Journals in a PostgreSQL database. A custom reducer adds this product; workers do not need it.
        library("LoopPostgres", on: stores, "LoopNode", "CPQ"),
        // Programs with a user interface: stores of remote loops; views on the terminal and in a browser; a server of files.
        library("LoopApp", on: nodes, "LoopView", "CHTTPD"),
        // A loop's tests, step by step, with a virtual clock.
        library("LoopTesting", on: loop, "LoopWire"),
        // Clusters under a virtual clock, network and journal; checkers of the promises.
        library("LoopSimulation", on: machines, "LoopTesting"),
        // A real cluster inside a test's own process, whose nodes can be killed.
        library("LoopNodeTesting", on: nodes),

        // Fetching by libcurl, HTML by a tokenizer of the standard, Markdown by libcmark-gfm.
        library("LoopFetch", on: loop, "CCMarkGFM", "CCurl", "CIDN", "CZLib", "Linux", in: "Examples"),
        // The loops of this project, such as the link checker.
        library("LoopExamples", on: nodes, "LoopFetch", in: "Examples"),
        // Shows and serves the examples: pages, a server with faults, and the program that runs them.
        library("LoopGallery", on: nodes, "LoopView", "LoopApp", "LoopExamples", in: "Examples"),
        // The files of the package that `loopctl new` makes. As programs of this project they are built and tested with it.
        .target(
            name: "LoopTemplate", path: "Examples/NewLoop", sources: ["Template"],
            resources: newPackage.map { .embedInCode($0) }, swiftSettings: strictlySafe),
        library("NewLoop", on: loop, in: "Examples/NewLoop/Sources"),
        executable("newloop-reducer", "NewLoop", "LoopNode", in: "Examples/NewLoop/Sources"),
        executable("newloop-worker", "NewLoop", "LoopNode", in: "Examples/NewLoop/Sources"),
        executable("newloop-client", "NewLoop", "LoopCore", "LoopNode", in: "Examples/NewLoop/Sources"),
        tests("NewLoopTests", "NewLoop", "LoopCore", "LoopTesting", "LoopSimulation", in: "Examples/NewLoop/Tests"),

        executable("loop-reducer", "LoopExamples", "LoopNode", "LoopPostgres"),
        executable("loop-effect", "LoopExamples", "LoopNode"),
        .target(
            name: "LoopCommands", dependencies: nodes + ["LoopPostgres", "LoopApp", "LoopTemplate"],
            path: "Sources/loopctl/Commands", swiftSettings: strictlySafe),
        .executableTarget(
            name: "loopctl", dependencies: ["LoopCommands"], path: "Sources/loopctl/Program",
            swiftSettings: strictlySafe),
        executable("loop-example", "LoopGallery", in: "Examples"),

        // Real processes under faults, and checks of the promises.
        library("LoopChaos", on: nodes, "LoopExamples", "LoopPostgres", "TestDatabase", in: "Tools"),
        // The operations of each event, whose cost is counted.
        library("LoopBudgets", on: machines, "CMeter", "LoopJournal", in: "Tools"),
        executable("loop-simulate", "Linux", "LoopSimulation", in: "Tools"),
        executable("loop-chaos", "LoopChaos", in: "Tools"),
        executable("loop-budgets", "Linux", "LoopBudgets", in: "Tools"),

        // Properties that hold for all bytes from outside, and libFuzzer's entry to them.
        library("LoopFuzzing", on: nodes, "LoopCompatibility", "LoopFetch", in: "Fuzzing", settings: unchecked),
        .executableTarget(
            name: "loop-fuzz", dependencies: ["LoopFuzzing"], path: "Fuzzing/loop-fuzz", swiftSettings: unchecked),
        // Folders and addresses for tests, which are removed afterwards, a fake reducer, and a candidate for a journal.
        library("TestFolders", on: nodes, in: "Tests", settings: unchecked),
        // PostgreSQL servers for tests.
        library("TestDatabase", on: nodes, "LoopPostgres", in: "Tests", settings: unchecked),

        tests("LoopCollectionsTests", on: loop),
        tests("LoopCoreTests", on: loop, "LoopCompatibility", "LoopTesting"),
        tests("LoopViewTests", on: loop, "LoopCompatibility", "LoopView", "LoopTesting"),
        tests("CBORTests", "CBOR", "LoopFuzzing", exclude: ["Vectors"]),
        tests("LoopWireTests", on: machines, exclude: ["Vectors"]),
        tests("LoopClusterTests", on: machines, "LoopCompatibility", "LoopJournal"),
        tests("LoopJournalTests", on: nodes, "CLinux", "CSQLite", "LoopPostgres", "TestDatabase"),
        tests("LoopPostgresTests", on: nodes, "LoopPostgres", "TestDatabase", "TestFolders"),
        tests("ZMQTests", "LoopKeys", "ZMQ", "TestFolders"),
        tests("LoopKeysTests", on: nodes, "TestFolders"),
        tests("LoopNodeTests", on: nodes, "LoopCompatibility", "LoopView", "LoopApp", "TestFolders"),
        tests("LoopAppTests", on: nodes, "LoopView", "LoopApp", "TestFolders"),
        tests("LoopTestingTests", on: loop, "LoopCompatibility", "LoopTesting", "LoopSimulation", "LoopExamples"),
        tests(
            "LoopSimulationTests", on: machines, "LoopTesting", "LoopSimulation", "LoopExamples",
            exclude: ["Transcripts"]),
        tests("LoopNodeTestingTests", on: nodes, "LoopNodeTesting", "LoopTesting", "LoopSimulation", "TestFolders"),
        tests("LoopFetchTests", "CCurl", "CGumbo", "LoopFetch", "LoopApp", exclude: ["Fixtures"]),
        tests(
            "LoopExamplesTests", on: nodes, "LoopExamples", "LoopFetch", "LoopTesting", "LoopSimulation",
            "LoopApp", "NewLoop", exclude: ["Fixtures"]),
        tests("LoopCommandsTests", on: nodes, "LoopCommands", "LoopTemplate", "TestFolders"),
        tests(
            "LoopGalleryTests", on: nodes, "loop-reducer", "loop-effect", "loopctl", "loop-example", "LoopView",
            "LoopApp", "LoopFetch", "LoopExamples", "LoopTesting", "LoopGallery", "TestFolders"),
        tests("ComposeTests", on: nodes, "TestFolders"),
        tests(
            "EndToEndTests", on: nodes, "loop-reducer", "loop-effect", "loopctl", "CLinux", "LoopPostgres", "LoopApp",
            "TestDatabase", "TestFolders"),
        tests(
            "ChaosTests", on: nodes, "loop-reducer", "loop-effect", "loopctl", "loop-chaos", "LoopChaos", "LoopExamples"
        ),
        tests("FuzzingTests", on: machines, "LoopJournal", "LoopFuzzing"),
        tests("ProjectTests", "TestFolders"),
    ],
    swiftLanguageModes: [.v6]
)

// The container image is built from this file, Sources and Examples: it has no folders for tests, fuzzers and tools.
if Context.environment["LOOP_PROGRAMS_ONLY"] == "1" {
    package.targets.removeAll { target in
        target.type == .test || ["Tests/", "Fuzzing/", "Tools/"].contains { target.path?.hasPrefix($0) ?? false }
    }
}

// make bench adds what Loop costs, measured beside plain references in C.
if Context.environment["LOOP_BENCHMARKS"] == "1" {
    package.targets += [
        // The same work by libzmq, libpq or system calls alone: what the machine gives without any promise.
        .target(
            name: "CReference", path: "Benchmarks/Sources/CReference",
            linkerSettings: [.linkedLibrary("pq"), .linkedLibrary("zmq")]),
        // Runs cases side by side; runs itself again as reducer, sender or worker of a case.
        .executableTarget(
            name: "loop-bench", dependencies: nodes + ["CReference", "LoopPostgres", "TestDatabase"],
            path: "Benchmarks/Sources/loop-bench", swiftSettings: unchecked),
    ]
}

// make test-portable tests the modules in which a loop is written and tested; the others are for Linux.
if isPortable {
    let tested = [
        "CBOR", "LoopCollections", "LoopCore", "LoopView", "LoopWire", "LoopCluster", "LoopTesting",
        "LoopSimulation",
    ]
    let tests = tested.map { "\($0)Tests" }
    package.targets.removeAll { $0.type == .test && !tests.contains($0.name) }
}
