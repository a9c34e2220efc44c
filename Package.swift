// swift-tools-version: 6.2
// The targets of Loop in the order of the data flow, from the pure loop to the executables. docs/ARCHITECTURE.md says what each is.
import PackageDescription

func isSet(_ variable: String) -> Bool { Context.environment[variable] == "1" }
/// Whether to omit what depends on one operating system or on one standard library.
let isPortable = isSet("LOOP_PORTABLE")
/// Whether this file is in the image, which is built from Sources and Examples alone.
let isInImage = isSet("LOOP_PROGRAMS_ONLY")

/// Settings of tests, fuzzers and benchmarks, which may call C and access memory freely.
let unchecked: [SwiftSetting] =
    ["ExistentialAny", "InternalImportsByDefault"].map { .enableUpcomingFeature($0) }
    + [.treatAllWarnings(as: .error)] + (isPortable ? [.define("PORTABLE")] : [])

/// Everywhere else, every use of unsafe code is marked `unsafe`, and each file says why its uses are safe.
func settings(in folder: String) -> [SwiftSetting] {
    unchecked + (["Tests", "Fuzzing", "Benchmarks/Sources"].contains(folder) ? [] : [.strictMemorySafety()])
}
func library(_ name: String, _ needs: [Target.Dependency] = [], in folder: String = "Sources") -> Target {
    .target(name: name, dependencies: needs, path: "\(folder)/\(name)", swiftSettings: settings(in: folder))
}
func program(_ name: String, _ needs: [Target.Dependency], in folder: String = "Sources") -> Target {
    .executableTarget(name: name, dependencies: needs, path: "\(folder)/\(name)", swiftSettings: settings(in: folder))
}

/// Tests of modules, each in the folder of its name. They have their data in one folder.
func tests(_ names: String..., using modules: [Target.Dependency], in folder: String = "Tests") -> [Target] {
    let data = [
        "CBOR": "Vectors", "LoopWire": "Vectors", "LoopSimulation": "Transcripts", "LoopFetch": "Fixtures",
        "LoopExamples": "Fixtures",
    ]
    return names.map { name in
        .testTarget(
            name: "\(name)Tests", dependencies: modules, path: "\(folder)/\(name)Tests",
            exclude: data[name].map { [$0] } ?? [], swiftSettings: unchecked)
    }
}

// What a layer may use. Nothing below the stores can reach a file, a socket or a clock.
let loop: [Target.Dependency] = ["LoopCollections", "LoopCore"]
let machines = loop + ["CBOR", "LoopKeys", "LoopWire", "LoopCluster"]
let stores = machines + ["Linux", "LoopJournal"]
let nodes = stores + ["ZMQ", "LoopNode"]

/// The files of the package that `loopctl new` makes. It is built and tested as a part of this project, too.
let newPackage = [
    "Dockerfile", "Package.swift", "README.md", "Sources/NewLoop/NewLoop.swift", "Sources/NewLoop/Order.swift",
    "Sources/NewLoop/Services.swift", "Sources/newloop-client/NewLoopClient.swift",
    "Sources/newloop-reducer/NewLoopReducer.swift", "Sources/newloop-worker/NewLoopWorker.swift",
    "Tests/NewLoopTests/NewLoopTests.swift", "docker-compose.yml",
]
/// C libraries: module maps and inline shims.
let systemLibraries =
    ["CZMQ", "C/CHTTPD", "C/CLinux", "C/CMemory", "C/CPQ", "C/CSQLite", "C/CZLib"].map { "Sources/\($0)" }
    + ["CCurl", "CCMarkGFM", "CIDN"].map { "Examples/\($0)" }

/// What users import.
let products = [
    "LoopCollections", "LoopCore", "LoopCompatibility", "LoopView", "LoopNode", "LoopPostgres", "LoopApp",
    "LoopTesting", "LoopSimulation", "LoopNodeTesting",
]

let targets =
    systemLibraries.map { .systemLibrary(name: String($0.split(separator: "/").last!), path: $0) } + [
        library("LoopCollections"),
        library("LoopCore", ["LoopCollections"]),
        library("LoopCompatibility", loop),
        library("LoopView", loop),
        library("CBOR", ["CMemory", "LoopCollections"]),
        library("LoopKeys"),
        library("LoopWire", loop + ["CBOR"]),
        library("LoopCluster", loop + ["CBOR", "LoopKeys", "LoopWire"]),
        library("Linux", ["CLinux"]),
        library("LoopJournal", machines + ["Linux", "CSQLite", "CZLib"]),
        library("ZMQ", ["CZMQ", "CLinux", "Linux", "LoopKeys"]),
        library("LoopNode", stores + ["ZMQ", "CHTTPD"]),
        library("LoopPostgres", stores + ["LoopNode", "CPQ"]),
        library("LoopApp", nodes + ["LoopView"]),
        library("LoopTesting", loop + ["CBOR", "LoopWire"]),
        library("LoopSimulation", machines + ["LoopTesting"]),
        library("LoopNodeTesting", nodes),
        program("loop-reducer", ["LoopExamples", "LoopNode", "LoopPostgres"]),
        program("loop-effect", ["LoopExamples", "LoopNode"]),
        program("loopctl", ["LoopCommands"], in: "Sources/loopctl"),
        library("LoopCommands", nodes + ["LoopPostgres", "LoopApp", "LoopTemplate"], in: "Sources/loopctl"),
        library("LoopFetch", loop + ["CCMarkGFM", "CCurl", "CIDN", "CZLib", "Linux"], in: "Examples"),
        library("LoopExamples", nodes + ["LoopFetch"], in: "Examples"),
        library("LoopGallery", nodes + ["LoopView", "LoopApp", "LoopExamples"], in: "Examples"),
        program("loop-example", ["LoopGallery"], in: "Examples"),
        .target(
            name: "LoopTemplate", path: "Examples/NewLoop", sources: ["Template"],
            resources: newPackage.map { .embedInCode($0) }, swiftSettings: settings(in: "Examples")),
        library("NewLoop", loop, in: "Examples/NewLoop/Sources"),
    ]
    + ["reducer", "worker", "client"].map {
        program("newloop-\($0)", ["LoopCore", "NewLoop", "LoopNode"], in: "Examples/NewLoop/Sources")
    }

// Simulation, chaos, fuzzing, and what tests share.
let tools = [
    library("LoopSimulator", ["Linux", "LoopNode", "LoopSimulation"], in: "Tools"),
    program("loop-simulate", ["LoopSimulator"], in: "Tools"),
    library("LoopChaos", nodes + ["LoopExamples", "LoopPostgres", "TestDatabase"], in: "Tools"),
    program("loop-chaos", ["LoopChaos"], in: "Tools"),
    program("loop-follow", ["CBOR", "Linux", "LoopCore", "LoopExamples", "LoopNode"], in: "Tools"),
    library("LoopFuzzing", nodes + ["LoopCompatibility", "LoopFetch"], in: "Fuzzing"),
    program("loop-fuzz", ["LoopFuzzing"], in: "Fuzzing"),
    library("TestClocks", ["LoopCollections", "LoopTesting"], in: "Tests"),
    library("TestFolders", nodes + ["LoopView", "LoopApp"], in: "Tests"),
    library("TestDatabase", nodes + ["LoopPostgres"], in: "Tests"),
    .systemLibrary(name: "CGumbo", path: "Tests/CGumbo"),
]
// Counts instructions and allocations. No test links it, because it replaces the allocator.
let budgets = [
    .target(name: "CMeter", path: "Tools/CMeter"),
    library("LoopBudgets", machines + ["CMeter", "LoopJournal"], in: "Tools"),
    program("loop-budgets", ["Linux", "LoopBudgets"], in: "Tools"),
]

/// Tests of the modules in which a loop is written and tested. The other modules are for Linux.
let kitTests = tests(
    "CBOR", "LoopCollections", "LoopCore", "LoopView", "LoopWire", "LoopCluster", "LoopTesting", "LoopSimulation",
    using: machines + ["LoopCompatibility", "LoopView", "LoopTesting", "LoopSimulation", "LoopExamples"]
        + ["LoopFuzzing", "LoopJournal", "TestClocks"])
/// The other tests may use everything.
let everything = (targets + tools).map { Target.Dependency.byName(name: $0.name) }
let otherTests = tests(
    "LoopJournal", "LoopPostgres", "ZMQ", "LoopKeys", "LoopNode", "LoopApp", "LoopNodeTesting", "LoopFetch",
    "LoopExamples", "LoopCommands", "LoopGallery", "Compose", "EndToEnd", "Chaos", "Fuzzing", "Project",
    using: everything)
let templateTests = tests("NewLoop", using: everything, in: "Examples/NewLoop/Tests")

// Measures beside plain references in C, for `make bench`.
let benchmarks = [
    .target(
        name: "CReference", path: "Benchmarks/Sources/CReference",
        linkerSettings: [.linkedLibrary("pq"), .linkedLibrary("zmq")]),
    program("loop-bench", nodes + ["CReference", "LoopPostgres", "TestDatabase"], in: "Benchmarks/Sources"),
]

let package = Package(
    name: "Loop", platforms: [.macOS(.v26)],
    products: products.map { .library(name: $0, targets: [$0]) }
        + ["loop-reducer", "loop-effect", "loopctl", "loop-example"].map { .executable(name: $0, targets: [$0]) },
    targets: targets + (isInImage ? [] : tools + budgets + kitTests + (isPortable ? [] : otherTests + templateTests))
        + (isSet("LOOP_BENCHMARKS") ? benchmarks : []),
    swiftLanguageModes: [.v6]
)
