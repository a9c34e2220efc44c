import LoopCollections
package import LoopCore

/// Some records of a journal, in order, with those events that were decoded in advance.
package struct DecodedPage: Sendable {
    /// The records, in the order of their positions; empty at the end of the journal.
    package let records: [Record]
    /// The decoded events, or nil if none were.
    let events: (any DecodedEvents)?

    /// Creates a page without decoded events.
    package init(records: [Record]) {
        self.records = records
        events = nil
    }

    /// Decodes the events of the records. Those that cannot be decoded are left to the replay, whose error gives the reason.
    /// - Parameters:
    ///   - records: the records of the page.
    ///   - type: the type of the events in the present schema.
    ///   - coder: the coder of the definition's values.
    package init<Event: Codable & Sendable>(decoding records: [Record], as type: Event.Type, coder: any ValueCoder) {
        self.records = records
        events = EventColumn<Event>(records, coder)
    }
}

/// The decoded events of some records. A replay does not need to know their type.
protocol DecodedEvents: Sendable {
    /// The place of a record's event.
    /// - Parameter index: the index of the record in its page.
    /// - Returns: the place, or nil if the record has no event, or it could not be decoded.
    func place(of index: Int) -> Int?

    /// Lends the event at a place.
    func lend(_ place: Int, to body: (borrowing Lent) throws -> Void) rethrows
}

/// A column of decoded events. It has no optionals of them, because unspecialised code looks up an optional's type at run time.
/// That took a tenth of a replay's time.
private struct EventColumn<Event: Codable & Sendable>: DecodedEvents {
    private var events: [Event] = []
    private var places: [Int?] = []

    init(_ records: [Record], _ coder: any ValueCoder) {
        events.reserveCapacity(records.count)
        places.reserveCapacity(records.count)
        for record in records {
            guard case .event(let event) = record, let decoded = try? coder.decode(Event.self, from: event.bytes) else {
                places.append(nil)
                continue
            }
            places.append(events.count)
            events.append(decoded)
        }
    }

    func place(of index: Int) -> Int? { places[index] }

    func lend(_ place: Int, to body: (borrowing Lent) throws -> Void) rethrows {
        try LoopCollections.lend(events[place]) { try body($0) }
    }
}
