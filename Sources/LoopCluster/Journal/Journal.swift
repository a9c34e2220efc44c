/// Where records become durable. Implementations stand in LoopJournal; the simulator has its own.
public protocol Journal {
    /// Appends records behind all earlier ones.
    /// - Parameter position: the number of the last of them, counted from the opening of the journal.
    /// - Returns: the proof, once the records are as durable as this journal makes them.
    mutating func append(_ records: [Record], through position: UInt64) throws(JournalError) -> JournalReceipt
}

/// The proof that every record up to a position is in the journal. Only a journal should make one.
public struct JournalReceipt: Sendable {
    public let position: UInt64

    public init(through position: UInt64) { self.position = position }
}

/// A journal could not do what it was asked; nothing that depends on it may leave.
public struct JournalError: Error, Equatable, Sendable, CustomStringConvertible {
    public var operation: String
    public var reason: String
    public var remedy: String

    public init(operation: String, reason: String, remedy: String) {
        self.operation = operation
        self.reason = reason
        self.remedy = remedy
    }

    public var description: String { "the journal could not \(operation): \(reason); \(remedy)" }
}
