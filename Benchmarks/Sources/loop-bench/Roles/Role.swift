import Foundation
import LoopCore
import LoopNode
import LoopPostgres

/// What this program is when it is one node of a case.
struct Role {
    let name: String
    let arguments: [String: String]

    init(name: String, words: [String]) throws {
        self.name = name
        var arguments: [String: String] = [:]
        for word in words {
            let parts = word.split(separator: "=", maxSplits: 1)
            guard parts.count == 2 else { throw BenchmarkError.usage("\(word) is not of the form name=value") }
            arguments[String(parts[0])] = String(parts[1])
        }
        self.arguments = arguments
    }

    /// The reducer that it talks to, with the keys of a folder under `keys=DIR`.
    func reducer() throws -> ReducerAddress {
        try ReducerAddress(parsing: text("reducer")).with(arguments["keys"].map { try KeyFiles.ofClient(in: $0) })
    }

    func text(_ name: String) throws -> String {
        guard let value = arguments[name] else { throw BenchmarkError.usage("\(self.name) needs \(name)=…") }
        return value
    }

    func number(_ name: String) throws -> Int {
        guard let value = Int(try text(name)) else { throw BenchmarkError.usage("\(name) is no number") }
        return value
    }

    /// Whether its tasks are to run on the thread of its sockets.
    var isOnItsThread: Bool { arguments["thread"] == "own" }

    /// Lets the process that started this one know.
    static func say(_ name: String, _ value: some CustomStringConvertible) {
        FileHandle.standardOutput.write(Data("\(name) \(value)\n".utf8))
    }

    func run() async throws {
        switch name {
        case "c-reducer": try CRoles.reduce(self)
        case "c-sender": try CRoles.send(self)
        case "c-puller": try CRoles.pull(self)
        case "c-pusher": try CRoles.push(self)
        case "reducer": try await reduce(loop: text("loop"))
        case "sender": try await send(loop: text("loop"))
        case "pulse-worker": try await PulseRoles.work(self)
        case "fan-worker": try await workOnFan(loop: text("loop"))
        case "fan-client": try await askFan(loop: text("loop"))
        case "crowd-workers": try await CrowdRoles.work(self)
        case "crowd-observers": try await CrowdRoles.observe(self)
        case "crowd-client": try await CrowdRoles.ask(self)
        case "catalogue-filler": try await CatalogueRoles.fill(self)
        case "catalogue-voter": try await CatalogueRoles.vote(self)
        case "catalogue-lone-voter": try await CatalogueRoles.voteAlone(self)
        case "catalogue-observer": try await CatalogueRoles.observe(self)
        case "catalogue-joiner": try await CatalogueRoles.join(self)
        case "in-process": try InProcessRole.run(self)
        case "coder": try CoderRole.run(self)
        case "journal": try JournalRole.run(self)
        case "database-journal": try DatabaseJournalRole.run(self)
        case "errand-worker": try await ErrandRoles.work(self)
        case "dictionary": try DictionaryRole.run(self)
        default: throw BenchmarkError.usage("there is no role \(name)")
        }
    }

    private func reduce(loop: String) async throws {
        DescriptorLimit.raise()
        switch loop {
        case PackedEvent.word: try await reduce(Counting<PackedEvent>())
        case PlainEvent.word: try await reduce(Counting<PlainEvent>())
        case Pulse.name: try await reduce(Pulse())
        case PackedFan.name: try await reduce(PackedFan())
        case PlainFan.name: try await reduce(PlainFan())
        case Crowd.name: try await reduce(Crowd())
        case Errands.name: try await reduce(Errands())
        case Alarms.name:
            try await reduce(
                Alarms(dueCount: number("due"), onFirst: { Self.say("began", MonotonicTime.seconds) }))
        case Catalogue.name:
            guard arguments["pauses"] != nil else { return try await reduce(Catalogue()) }
            let pauses = Pauses()
            try await reduce(Catalogue(onVote: pauses.note))
            Self.say("longest-thread", pauses.longest.thread * 1000)
            Self.say("longest-wall", pauses.longest.wall * 1000)
        default: throw BenchmarkError.usage("there is no loop \(loop)")
        }
    }

    /// Keeps its journal in `journal=FILE` or a database, else in memory, with `snapshot-every=N`, `durability=os` and
    /// `standby=yes` where they are given, and says how long a recovery took.
    private func reduce(_ definition: some LoopDefinition) async throws {
        let recovered = LogHandler { event in
            if [.snapshotFailed, .journalFailed].contains(event.kind) { StandardError.line(event.line) }
            if event.kind == .standby { Self.say("standing-by", event.line) }
            if event.kind == .listening { Self.say("leads", MonotonicTime.seconds) }
            guard event.kind == .recovered else { return }
            for field in event.fields where field.name == "durationMs" { Self.say("recovered", "\(field.value)") }
        }
        var configuration = ReducerNodeConfiguration(
            bind: try arguments["bind"].map { try BindAddress(parsing: $0) } ?? "tcp://127.0.0.1:0",
            journal: try JournalPlace(arguments["journal"] ?? "memory", engines: [.postgres]), log: recovered)
        configuration.durability = (try? text("durability")) == "os" ? .os : .fsync
        configuration.snapshotInterval = (try? number("snapshot-every")).map(UInt64.init) ?? .max
        configuration.onListening = { Self.say("listening", $0) }
        configuration.onOutcome = { _ in Self.say("finished", MonotonicTime.seconds) }
        configuration.keys = arguments["keys"].map { KeyFolder($0) }
        if arguments["standby"] != nil { configuration.succession = .standby }
        let node = try ReducerNode(definition, configuration: configuration)
        if let outcome = try await node.run() { Self.say("outcome", outcome.text) }
    }

    private func workOnFan(loop: String) async throws {
        if loop == PackedFan.name { return try await FanRoles<PackedFan>.work(self) }
        try await FanRoles<PlainFan>.work(self)
    }

    private func askFan(loop: String) async throws {
        if loop == PackedFan.name { return try await FanRoles<PackedFan>.ask(self) }
        try await FanRoles<PlainFan>.ask(self)
    }

    private func send(loop: String) async throws {
        switch loop {
        case PackedEvent.word: try await SenderRole<PackedEvent>.run(self)
        case PlainEvent.word: try await SenderRole<PlainEvent>.run(self)
        default: throw BenchmarkError.usage("there is no loop \(loop) to send to")
        }
    }
}
