import LoopCluster
import LoopCore
import LoopJournal
import LoopNode
import LoopWire

extension FuzzTarget {
    /// A sender's file whose rows say anything, or with bytes changed anywhere. What can be read is the same when it is read again,
    /// also after a sender has gone on from it.
    static let outbox = FuzzTarget("outbox", budget: AllocationBudget(fixed: 16 << 20, perByte: 4096)) { bytes in
        let file = try OutboxForgery()
        try file.write(FuzzInput(bytes))
        do {
            try check(file.path)
        } catch let error as OutboxError {
            try require(error.description.utf8.count < 4096, "an error of \(error.description.utf8.count) bytes")
        }
    }

    private static func check(_ path: String) throws {
        let outbox = try OutboxFile(path)
        let stream = try outbox.load()
        try require(try outbox.load() == stream, "an outbox says two things")
        var machine = PeerMachine(
            configuration: PeerConfiguration(peer: outbox.peer, loop: Allotment.name), resuming: stream, at: .zero)
        _ = machine.send([1, 2, 3], of: nil, wantsSeq: false)
        try outbox.commit(machine, loop: outbox.loop, at: .zero, isLast: true)
        try require(
            try outbox.load().entries == machine.stream(after: stream.base + stream.settled).entries,
            "what was committed is not what is read")
    }
}

/// An outbox file in memory, with rows that a target asks for.
final class OutboxForgery {
    let path = JournalForgery.newPath()

    private static let template: [UInt8] = {
        let path = JournalForgery.newPath()
        defer { JournalForgery.removeFiles(path) }
        guard (try? make(path)) != nil else { return [] }
        return FileBytes.read(path)
    }()

    /// A file with three entries, in it and not in its log.
    private static func make(_ path: String) throws {
        let outbox = try OutboxFile(path)
        var machine = PeerMachine(
            configuration: PeerConfiguration(peer: outbox.peer, loop: Allotment.name), resuming: try outbox.load(),
            at: .zero)
        for byte in 1...3 as ClosedRange<UInt8> { _ = machine.send([byte], of: nil, wantsSeq: byte == 2) }
        try outbox.commit(machine, loop: Allotment.name, at: .zero, isLast: true)
    }

    init() throws {
        let template = Self.template
        guard !template.isEmpty else { throw FuzzFinding("an outbox cannot be made at \(path)") }
        FileBytes.write(template, to: path)
    }

    deinit { JournalForgery.removeFiles(path) }

    /// The kinds of steps in which a file is changed.
    enum Step: UInt8, CaseIterable {
        /// An entry: its number, its bytes.
        case entry
        /// A column of the only row of the stream: which, a number.
        case stream
        /// Bytes of the file: where, which. Last: the file may be no database any more.
        case bytes
    }

    static let columns = [
        "peer_high", "peer_low", "history", "epoch", "nonce", "session", "base", "settled", "offered",
    ]

    func write(_ input: FuzzInput) throws {
        var input = input
        var changes: [(start: UInt64, bytes: [UInt8])] = []
        do {
            let database = try Database(path, .write)
            try database.execute("PRAGMA journal_mode = DELETE")
            while !input.isAtEnd {
                switch Step.allCases[Int(input.byte()) % Step.allCases.count] {
                case .entry:
                    var statement = try Statement("REPLACE INTO entry VALUES (?1, ?2)", in: database)
                    try statement.bind(1, Int64(bitPattern: input.number()))
                    let bytes = input.chunk()
                    try statement.run(2, lending: bytes.span)
                case .stream:
                    let column = Self.columns[Int(input.byte()) % Self.columns.count]
                    var statement = try Statement("UPDATE stream SET \(column) = ?1", in: database)
                    try statement.bind(1, Int64(bitPattern: input.number()))
                    try statement.run()
                case .bytes: changes.append((input.number(), Array(input.chunk())))
                }
            }
        }
        if changes.isEmpty { return }
        var content = FileBytes.read(path)
        for change in changes {
            let start = Int(change.start % UInt64(content.count))
            let end = min(content.count, start + change.bytes.count)
            content.replaceSubrange(start..<end, with: change.bytes.prefix(end - start))
        }
        FileBytes.write(content, to: path)
    }
}
