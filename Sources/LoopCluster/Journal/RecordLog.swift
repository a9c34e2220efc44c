package import LoopCore
import LoopWire

/// A sequence of records, in the bytes that a journal keeps. The reducer's machine writes each record once, as soon as it is
/// made. To look at a record, iterate the log, which decodes it.
package struct RecordLog: Sequence, Sendable {
    /// The bytes that `Record.write(to:)` wrote.
    package private(set) var bytes: [UInt8] = []
    /// How many records there are.
    package private(set) var count = 0
    /// The seqs of the first and the last event among the records, or nil if there is none.
    package private(set) var seqs: ClosedRange<Seq>?
    /// How many of the records are events.
    package private(set) var eventsCount: UInt64 = 0
    /// Whether one of the records survives a loss of power, whatever the journal promises of others.
    package private(set) var outlivesPower = false

    /// Creates a log without records.
    package init() {}

    /// Creates a log of records, in their order.
    package init(_ records: some Sequence<Record>) {
        self.init()
        for record in records { append(record) }
    }

    /// Whether there are no records.
    package var isEmpty: Bool { count == 0 }

    /// Appends a record.
    package mutating func append(_ record: Record) {
        if case .event(let event) = record { return append(event) }
        record.write(to: &bytes)
        count += 1
        if record.outlivesPower { outlivesPower = true }
    }

    /// Appends an event record.
    package mutating func append(_ event: EventRecord) {
        event.write(to: &bytes)
        count += 1
        eventsCount += 1
        seqs = (seqs?.lowerBound ?? event.seq)...Swift.max(seqs?.upperBound ?? event.seq, event.seq)
    }

    /// Reserves capacity for a number of bytes.
    mutating func reserve(_ byteCount: Int) { bytes.reserveCapacity(byteCount) }

    /// Reads the records back, in order.
    package func makeIterator() -> Iterator { Iterator(reader: ByteReader(bytes)) }

    /// Decodes the records of a log one by one.
    package struct Iterator: IteratorProtocol {
        var reader: ByteReader

        /// The next record, or nil after the last.
        package mutating func next() -> Record? {
            guard !reader.isAtEnd else { return nil }
            do {
                return try Record(from: &reader)
            } catch {
                preconditionFailure("a record that was written here cannot be read: \(error)")
            }
        }
    }
}

extension RecordLog: Equatable {
    /// Whether both have the same records.
    package static func == (a: RecordLog, b: RecordLog) -> Bool { a.bytes == b.bytes }
}

extension RecordLog: ExpressibleByArrayLiteral {
    /// Creates a log of records, in their order.
    package init(arrayLiteral records: Record...) { self.init(records) }
}

extension Journal {
    /// Appends records after all earlier ones; see ``append(_:through:)-(RecordLog,_)``.
    /// - Throws: `JournalError` if the records are not in the journal; see the same method.
    package mutating func append(_ records: [Record], through position: UInt64) throws(JournalError) -> JournalReceipt {
        try append(RecordLog(records), through: position)
    }
}
