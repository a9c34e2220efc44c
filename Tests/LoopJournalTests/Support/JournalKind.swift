import LoopCluster
import LoopCore
import LoopJournal
import LoopNode
import LoopPostgres
import LoopWire
import TestDatabase

/// The journals that a reducer can have.
enum JournalKind: CaseIterable {
    case memory, file, database

    /// Those that outlive their process.
    static let lasting: [JournalKind] = [.file, .database]
}

/// A place for journals of one kind, to be opened again and again.
struct KeptPlace {
    let place: JournalPlace
    /// One by the same name, as another process has it.
    let others: JournalPlace
    private let folder: Folder

    init(_ kind: JournalKind) async throws {
        folder = try Folder()
        switch kind {
        case .memory:
            place = JournalPlace(
                path: { _ in nil },
                open: { _ throws(JournalError) in try MemoryRecords { Examples.history }.open() }, read: nil)
            others = place
        case .file:
            place = .file(folder.journal)
            others = place
        case .database:
            let url = try await TestDatabase.shared.value.makeDatabase()
            try PostgresSchema.create(url)
            place = .postgres(url)
            others = .postgres(url)
        }
    }

    func open(_ loop: String = "test", _ durability: Durability = .fsync) throws -> any Journal {
        try place.open(opening(loop, durability))
    }

    func openElsewhere(_ loop: String = "test") throws -> any Journal { try others.open(opening(loop, .fsync)) }

    private func opening(_ loop: String, _ durability: Durability) -> JournalPlace.Opening {
        JournalPlace.Opening(loop: loop, durability: durability, waits: false, isStopping: { false }, note: { _ in })
    }

    func read(_ loop: String = "test") throws -> any Journal {
        guard let read = place.read else { preconditionFailure("a journal in memory is its owner's") }
        return try read(loop) { _ in }
    }

    /// Appends a batch, and returns what it was.
    func append(
        _ batches: inout Batches, _ journal: inout any Journal, events: Int, others: Int = 0
    ) throws -> [Record] {
        let batch = batches.next(events: events, others: others)
        _ = try journal.append(batch, through: journal.position + UInt64(batch.count))
        return batch
    }
}
