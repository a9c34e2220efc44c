package import LoopCore
package import LoopWire

/// The transitions that changed a part of the state.
package struct PartChanges {
    /// The changes, the newest first.
    package private(set) var changes: [PartChange] = []
    /// The seq of the oldest state that was looked at. Changes up to this seq are not known.
    package private(set) var from: Seq
    /// Why no older states were compared, for people. Nil if they can be, or if there are none.
    package private(set) var reason: String?

    /// How many bytes of values are included.
    private static var valueBytesMax: Int { 4 << 20 }

    /// Finds the newest changes of a part. It replays the journal from its newest snapshot, then from the one before, and so on,
    /// and compares the part before and after each event. The search may take as long as a whole replay.
    /// - Parameters:
    ///   - part: the part of the state.
    ///   - limit: only changes before this seq are found, or those of all events for nil.
    ///   - countMax: how many changes to find.
    ///   - journal: the journal to replay.
    ///   - definition: the loop whose states are compared. It must be able to show them.
    ///   - coder: the coder of the definition's values.
    /// - Throws: `StateSelectionError` if no state has such a part, `RecoveryError` if no state can be rebuilt, or `JournalError`.
    package init(
        of part: StateSelection, before limit: Seq?, max countMax: Int, in journal: any Journal,
        _ definition: some LoopDefinition, coder: any ValueCoder
    ) throws {
        let newest = try journal.newestSeq()
        let end = limit.map { Seq(min($0.value, newest.value + 1)) } ?? newest.next
        let last = Seq(end.value - min(end.value, 1))
        from = last
        for start in try journal.snapshots().map(\.seq) + [.initial] where start < from {
            let found: (changes: [PartChange], isCut: Bool)
            do {
                found = try Self.changes(
                    of: part, from: start, before: from.next, max: countMax - changes.count, journal, definition, coder)
            } catch let error as RecoveryError where from < last && error.isOfOlderStates {
                reason = error.reason
                break
            }
            changes += found.changes
            from = found.isCut ? Seq((changes.last?.event.seq ?? 1) - 1) : start
            if changes.count >= countMax { break }
        }
        if changes.isEmpty {
            // The part may never have existed, which is an error.
            let recovery = try Recovery(showing: last, of: journal, definition, coder: coder)
            _ = try ShownState.encode(part, of: recovery.journaled.state(of: definition), definition)
        }
        leaveOutLargeValues()
    }

    private mutating func leaveOutLargeValues() {
        var room = Self.valueBytesMax
        for index in changes.indices {
            if changes[index].value.count <= room {
                room -= changes[index].value.count
            } else {
                changes[index].value = []
            }
        }
    }

    /// The newest changes from one state to another, the newest first.
    /// - Returns: also whether there are older ones between the two.
    private static func changes<Definition: LoopDefinition>(
        of part: StateSelection, from start: Seq, before end: Seq, max countMax: Int, _ journal: any Journal,
        _ definition: Definition, _ coder: any ValueCoder
    ) throws -> (changes: [PartChange], isCut: Bool) {
        var recovery = try Recovery(showing: start, of: journal, definition, coder: coder)
        func value() throws -> [UInt8] {
            do {
                return try ShownState.encode(part, of: recovery.journaled.state(of: definition), definition)
            } catch StateSelectionError.nothing {
                return []
            }
        }
        // Most changes are followed by enough newer ones, so only those that remain are shown.
        var found: [(event: EventRecord, position: UInt64, value: [UInt8])] = []
        var isCut = false
        var last = try value()
        /// - Returns: whether the next page may have records before the end.
        func compareNextPage() throws -> Bool {
            let records = try journal.records(after: recovery.journaled.position, bytesMax: Recovery.pageBytes)
            let page = DecodedPage(decoding: records, as: Definition.Event.self, coder: coder)
            for index in page.records.indices {
                guard case .event(let event) = page.records[index] else {
                    try recovery.apply(page, at: index)
                    continue
                }
                guard event.seq < end else { return false }
                try recovery.apply(page, at: index)
                let next = try value()
                guard next != last else { continue }
                last = next
                found.append((event, recovery.journaled.position, next))
                if found.count >= 2 * countMax {
                    found.removeFirst(found.count - countMax)
                    isCut = true
                }
            }
            return !records.isEmpty
        }
        while try compareNextPage() {}
        let changes = found.suffix(countMax).reversed().map { change in
            PartChange(
                event: HistoryRecord(.event(change.event), position: change.position, seq: change.event.seq),
                value: change.value)
        }
        return (changes, isCut || found.count > countMax)
    }
}

extension RecoveryError {
    /// Whether the states before those that can be rebuilt are the reason.
    fileprivate var isOfOlderStates: Bool {
        switch self {
        case .trimmed, .ofAnotherSchema: true
        default: false
        }
    }
}
