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

func library(
    _ name: String, _ dependencies: [Target.Dependency] = [], in folder: String = "Sources", path: String? = nil
) -> Target {
    .target(
        name: name, dependencies: dependencies, path: path ?? "\(folder)/\(name)", swiftSettings: strictlySafe)
}

func executable(
    _ name: String, _ dependencies: [Target.Dependency], in folder: String = "Sources", path: String? = nil
) -> Target {
    .executableTarget(
        name: name, dependencies: dependencies, path: path ?? "\(folder)/\(name)", swiftSettings: strictlySafe)
}

func tests(
    _ name: String, _ dependencies: [Target.Dependency], exclude: [String] = [], resources: [Resource] = []
) -> Target {
    .testTarget(
        name: name, dependencies: dependencies, exclude: exclude, resources: resources, swiftSettings: unchecked)
}

/// The files of the package that `loopctl new` makes, in Examples/NewLoop.
let newPackage = [
    "Dockerfile", "Package.swift", "README.md", "Sources/NewLoop/NewLoop.swift", "Sources/NewLoop/Order.swift",
    "Sources/NewLoop/Services.swift", "Sources/newloop-client/NewLoopClient.swift",
    "Sources/newloop-reducer/NewLoopReducer.swift", "Sources/newloop-worker/NewLoopWorker.swift",
    "Tests/NewLoopTests/NewLoopTests.swift", "docker-compose.yml",
]

let package = Package(
    name: "Loop",
    platforms: [.macOS(.v26)],
    products: [
        .library(name: "LoopCollections", targets: ["LoopCollections"]),
        .library(name: "LoopCore", targets: ["LoopCore"]),
        .library(name: "LoopCompatibility", targets: ["LoopCompatibility"]),
        .library(name: "LoopView", targets: ["LoopView"]),
        .library(name: "CBOR", targets: ["CBOR"]),
        .library(name: "LoopWire", targets: ["LoopWire"]),
        .library(name: "LoopCluster", targets: ["LoopCluster"]),
        .library(name: "LoopJournal", targets: ["LoopJournal"]),
        .library(name: "LoopKeys", targets: ["LoopKeys"]),
        .library(name: "LoopNode", targets: ["LoopNode"]),
        .library(name: "LoopPostgres", targets: ["LoopPostgres"]),
        .library(name: "LoopApp", targets: ["LoopApp"]),
        .library(name: "LoopTesting", targets: ["LoopTesting"]),
        .library(name: "LoopSimulation", targets: ["LoopSimulation"]),
        .library(name: "LoopNodeTesting", targets: ["LoopNodeTesting"]),
        // For the benchmark, which is a separate package.
        .library(name: "TestDatabase", targets: ["TestDatabase"]),
        .executable(name: "loop-reducer", targets: ["loop-reducer"]),
        .executable(name: "loop-effect", targets: ["loop-effect"]),
        .executable(name: "loopctl", targets: ["loopctl"]),
        .executable(name: "loop-example", targets: ["loop-example"]),
    ],
    targets: [
        // C libraries: module maps and inline shims.
        .systemLibrary(name: "CCurl", path: "Examples/CCurl"),
        .systemLibrary(name: "CCMarkGFM", path: "Examples/CCMarkGFM"),
        .systemLibrary(name: "CIDN", path: "Examples/CIDN"),
        .systemLibrary(name: "CHTTPD", path: "Sources/C/CHTTPD"),
        .systemLibrary(name: "CLinux", path: "Sources/C/CLinux"),
        .systemLibrary(name: "CMemory", path: "Sources/C/CMemory"),
        .systemLibrary(name: "CPQ", path: "Sources/C/CPQ"),
        .systemLibrary(name: "CSQLite", path: "Sources/C/CSQLite"),
        .systemLibrary(name: "CZLib", path: "Sources/C/CZLib"),
        .systemLibrary(name: "CZMQ", path: "Sources/C/CZMQ"),
        // The memory that libzmq allocates for the secrets of handshakes, reused.
        .target(name: "CGuardedMemory", path: "Sources/C/CGuardedMemory"),
        // Counts allocations, for `make budgets`.
        .target(name: "CMeter", path: "Tools/CMeter"),

        // The pure loop: what happens, what should be going on, and nothing that touches the world.
        library("LoopLock"),
        // Hash tables, heaps, and dictionaries that share their structure with their copies.
        library("LoopCollections", ["CMemory", "LoopLock"]),
        library("LoopCore", ["LoopCollections", "LoopLock"]),
        // The forms and names of the four libraries that LoopCore does not have.
        library("LoopCompatibility", ["LoopCore", "LoopLock"]),
        // Stores, bindings and widgets over a loop, and the renderers that need no C library.
        library("LoopView", ["LoopLock", "LoopCore"]),
        // The coder of all values: deterministic CBOR for any `Codable` type.
        library("CBOR", ["CMemory", "LoopLock"]),
        // Admission: keys, roles and certificates, without files or sockets.
        library("LoopKeys"),
        // The bytes of every message between nodes.
        library("LoopWire", ["CBOR", "LoopLock", "LoopCollections", "LoopCore"]),
        // The machines of the reducer's and the worker's side, without sockets, clocks or threads.
        library("LoopCluster", ["CBOR", "LoopCollections", "LoopCore", "LoopKeys", "LoopWire"]),
        // The system calls that take pointers, with owners and errors.
        library("Linux", ["CLinux"]),
        // Journals in memory and in files.
        library(
            "LoopJournal", ["CBOR", "Linux", "LoopLock", "LoopCore", "LoopWire", "LoopCluster", "CSQLite", "CZLib"]),
        // One owner type per ZeroMQ handle.
        library("ZMQ", ["CGuardedMemory", "CZMQ", "CLinux", "Linux", "LoopKeys"]),
        // The shells around the machines: threads, sockets, signals, effects.
        library(
            "LoopNode",
            [
                "CBOR", "Linux", "LoopLock", "LoopCollections", "LoopCore", "LoopKeys", "LoopWire", "LoopCluster",
                "LoopJournal", "ZMQ",
            ]),
        // Journals in a PostgreSQL database. A custom reducer adds this product; workers do not need it.
        library(
            "LoopPostgres",
            ["Linux", "LoopLock", "LoopCore", "LoopWire", "LoopCluster", "LoopJournal", "LoopNode", "CPQ"]),
        // Programs with a user interface: stores of remote loops; views on the terminal and in a browser; a server of files.
        library("LoopApp", ["Linux", "LoopLock", "LoopCore", "LoopView", "LoopCluster", "LoopNode", "CHTTPD"]),
        // A loop whose test decides what its effects answer, and a virtual clock.
        library("LoopTesting", ["LoopLock", "LoopCore", "LoopWire"]),
        // Clusters under a virtual clock, network and journal; checkers of the promises.
        library("LoopSimulation", ["CBOR", "LoopCore", "LoopKeys", "LoopWire", "LoopCluster", "LoopTesting"]),
        // A real cluster inside a test's own process, whose nodes can be killed.
        library("LoopNodeTesting", ["LoopLock", "LoopCore", "LoopWire", "LoopCluster", "LoopNode", "ZMQ"]),
        // Fetching by libcurl, links and anchors by a scan of tags, Markdown by libcmark-gfm.
        library("LoopFetch", ["CCMarkGFM", "CCurl", "CIDN", "CZLib", "LoopLock"], in: "Examples"),
        // The loops of this project, such as the link checker.
        library(
            "LoopExamples",
            ["CBOR", "Linux", "LoopLock", "LoopCollections", "LoopCore", "LoopWire", "LoopNode", "LoopFetch"],
            in: "Examples"),
        // The files of the package that `loopctl new` makes.
        .target(
            name: "LoopTemplate", path: "Examples/NewLoop", sources: ["Template"],
            resources: newPackage.map { .embedInCode($0) }, swiftSettings: strictlySafe),
        // The commands of loopctl.
        library(
            "LoopCommands",
            [
                "CBOR", "Linux", "LoopLock", "LoopCore", "LoopKeys", "LoopNode", "LoopTemplate", "LoopWire",
                "LoopCluster", "LoopPostgres", "LoopApp", "ZMQ",
            ], path: "Sources/loopctl/Commands"),
        // Shows and serves the examples: pages, a server with faults, and the program that runs them.
        library(
            "LoopGallery",
            ["CBOR", "Linux", "LoopLock", "LoopCore", "LoopView", "LoopWire", "LoopNode", "LoopApp", "LoopExamples"],
            in: "Examples"),

        // The files of the new package as programs of this project, so that they are built and tested with it.
        library("NewLoop", ["LoopCollections", "LoopCore"], in: "Examples/NewLoop/Sources"),
        .executableTarget(
            name: "newloop-reducer", dependencies: ["NewLoop", "LoopNode"],
            path: "Examples/NewLoop/Sources/newloop-reducer", swiftSettings: strictlySafe),
        .executableTarget(
            name: "newloop-worker", dependencies: ["NewLoop", "LoopNode"],
            path: "Examples/NewLoop/Sources/newloop-worker", swiftSettings: strictlySafe),
        .executableTarget(
            name: "newloop-client", dependencies: ["NewLoop", "LoopCore", "LoopNode"],
            path: "Examples/NewLoop/Sources/newloop-client", swiftSettings: strictlySafe),

        // Real processes under faults, and checks of the promises.
        library(
            "LoopChaos",
            [
                "CBOR", "Linux", "LoopLock", "LoopCore", "LoopWire", "LoopNode", "LoopExamples", "LoopPostgres",
                "TestDatabase", "ZMQ",
            ],
            in: "Tools"),

        // The operations of each event, whose cost is counted.
        library("LoopBudgets", ["CBOR", "CMeter", "LoopCore", "LoopWire", "LoopCluster", "LoopJournal"], in: "Tools"),

        executable("loop-reducer", ["LoopExamples", "LoopNode", "LoopPostgres"]),
        executable("loop-effect", ["LoopExamples", "LoopNode"]),
        executable("loopctl", ["LoopCommands"], path: "Sources/loopctl/Program"),
        executable("loop-example", ["LoopGallery"], in: "Examples"),
        executable("loop-simulate", ["Linux", "LoopSimulation"], in: "Tools"),
        executable("loop-chaos", ["LoopChaos"], in: "Tools"),
        executable("loop-budgets", ["Linux", "LoopBudgets"], in: "Tools"),

        // Properties that hold for all bytes from outside, and libFuzzer's entry to them.
        .target(
            name: "LoopFuzzing",
            dependencies: [
                "CBOR", "LoopCompatibility", "LoopCore", "LoopWire", "LoopCluster", "LoopJournal", "LoopKeys", "LoopNode",
                "LoopFetch",
            ],
            path: "Fuzzing/LoopFuzzing", swiftSettings: unchecked),
        .executableTarget(
            name: "loop-fuzz", dependencies: ["LoopFuzzing"], path: "Fuzzing/loop-fuzz", swiftSettings: unchecked),

        // Folders and addresses for tests, which are removed afterwards, a fake reducer, and a candidate for a journal.
        .target(
            name: "TestFolders",
            dependencies: ["CBOR", "LoopCore", "LoopCluster", "LoopLock", "LoopNode", "LoopWire", "ZMQ"],
            path: "Tests/TestFolders", swiftSettings: unchecked),

        // PostgreSQL servers for tests.
        .target(
            name: "TestDatabase",
            dependencies: ["Linux", "LoopCore", "LoopLock", "LoopCluster", "LoopNode", "LoopPostgres"],
            path: "Tests/TestDatabase", swiftSettings: unchecked),

        tests("LoopLockTests", ["LoopLock"]),
        tests("LoopCollectionsTests", ["LoopCollections", "LoopCore"]),
        tests("LoopCoreTests", ["LoopCollections", "LoopCompatibility", "LoopCore", "LoopLock", "LoopTesting"]),
        tests("LoopViewTests", ["LoopCompatibility", "LoopLock", "LoopCore", "LoopView", "LoopTesting"]),
        tests("CBORTests", ["CBOR", "LoopFuzzing"], exclude: ["Vectors"]),
        tests("LoopWireTests", ["CBOR", "LoopCore", "LoopWire"], exclude: ["Vectors"]),
        tests(
            "LoopClusterTests",
            ["CBOR", "LoopCompatibility", "LoopCore", "LoopKeys", "LoopWire", "LoopCluster", "LoopJournal"]),
        tests(
            "LoopJournalTests",
            [
                "CBOR", "CLinux", "CSQLite", "LoopCore", "LoopKeys", "LoopWire", "LoopCluster", "LoopJournal",
                "LoopNode", "LoopPostgres", "TestDatabase",
            ]),
        tests(
            "LoopPostgresTests",
            [
                "LoopCore", "LoopLock", "LoopWire", "LoopCluster", "LoopJournal", "LoopNode", "LoopPostgres",
                "TestDatabase", "TestFolders",
            ]),
        tests("ZMQTests", ["CGuardedMemory", "LoopKeys", "ZMQ", "TestFolders"]),
        tests("LoopKeysTests", ["Linux", "LoopCore", "LoopKeys", "LoopNode", "TestFolders"]),
        tests(
            "LoopNodeTests",
            [
                "CBOR", "Linux", "LoopCompatibility", "LoopCore", "LoopKeys", "LoopView", "LoopWire", "LoopCluster",
                "LoopJournal", "LoopNode", "LoopApp", "ZMQ", "TestFolders",
            ]),
        tests("LoopAppTests", ["LoopLock", "LoopCore", "LoopView", "LoopNode", "LoopApp", "TestFolders"]),
        tests("LoopTestingTests", ["LoopCompatibility", "LoopCore", "LoopSimulation", "LoopTesting", "LoopExamples"]),
        tests(
            "LoopSimulationTests",
            [
                "LoopCore", "LoopKeys", "LoopWire", "LoopCluster", "LoopSimulation", "LoopTesting", "LoopExamples",
            ], exclude: ["Transcripts"]),
        tests(
            "LoopNodeTestingTests",
            [
                "LoopLock", "LoopCore", "LoopWire", "LoopCluster", "LoopNode", "LoopNodeTesting", "LoopSimulation",
                "LoopTesting", "TestFolders",
            ]),
        // The HTML parser with which the scanner of pages is compared.
        .systemLibrary(name: "CGumbo", path: "Tests/CGumbo", pkgConfig: "gumbo"),
        tests("LoopFetchTests", ["CCurl", "CGumbo", "LoopFetch", "LoopApp"], exclude: ["Fixtures"]),
        tests(
            "LoopExamplesTests",
            [
                "CBOR", "LoopCore", "LoopExamples", "LoopFetch", "LoopSimulation", "LoopTesting", "LoopApp", "LoopWire",
                "NewLoop",
            ],
            exclude: ["Fixtures"]),
        tests(
            "LoopCommandsTests",
            [
                "CBOR", "LoopLock", "LoopCore", "LoopKeys", "LoopNode", "LoopWire", "LoopCluster", "LoopCommands",
                "LoopTemplate", "ZMQ", "TestFolders",
            ]),
        tests(
            "LoopGalleryTests",
            [
                "LoopLock", "LoopCore", "LoopView", "LoopNode", "LoopApp", "LoopFetch", "LoopExamples", "LoopTesting",
                "LoopGallery", "TestFolders", "loop-reducer", "loop-effect", "loopctl", "loop-example",
            ]),
        .testTarget(
            name: "NewLoopTests", dependencies: ["NewLoop", "LoopCore", "LoopSimulation", "LoopTesting"],
            path: "Examples/NewLoop/Tests/NewLoopTests", swiftSettings: unchecked),
        tests("ComposeTests", ["LoopLock", "LoopCore", "LoopNode", "TestFolders"]),
        tests(
            "EndToEndTests",
            [
                "CLinux", "LoopLock", "LoopCore", "LoopNode", "LoopPostgres", "LoopApp", "LoopWire", "ZMQ",
                "TestDatabase", "TestFolders", "loop-reducer", "loop-effect", "loopctl",
            ]),
        tests(
            "ChaosTests",
            [
                "CBOR", "LoopChaos", "LoopCore", "LoopExamples", "LoopNode", "LoopWire", "loop-reducer", "loop-effect",
                "loopctl", "loop-chaos",
            ]),
        tests(
            "FuzzingTests",
            ["CBOR", "LoopCollections", "LoopCore", "LoopWire", "LoopCluster", "LoopJournal", "LoopFuzzing"]),
        tests("ProjectTests", ["TestFolders"]),
    ],
    swiftLanguageModes: [.v6]
)

// The container image is built from this file, Sources and Examples: it has no folders for tests, fuzzers and tools.
if Context.environment["LOOP_PROGRAMS_ONLY"] == "1" {
    package.products.removeAll { $0.name == "TestDatabase" }
    package.targets.removeAll { target in
        target.type == .test || ["Tests/", "Fuzzing/", "Tools/"].contains { target.path?.hasPrefix($0) ?? false }
    }
}

// make test-portable tests the modules in which a loop is written and tested; the others are for Linux.
if isPortable {
    let tested = [
        "CBOR", "LoopCollections", "LoopCore", "LoopView", "LoopWire", "LoopCluster", "LoopTesting", "LoopSimulation",
    ]
    let tests = tested.map { "\($0)Tests" }
    package.targets.removeAll { $0.type == .test && !tests.contains($0.name) }
}
