package import CBOR
import LoopCore
package import LoopWire

/// Records as bytes: a kind byte, then that kind's fields. The frame tables are in `docs/spec/2-JOURNAL.md`.
///
/// Numbers that are usually small are *varints*: seven bits per byte, the lowest first, the top bit set on all bytes but the
/// last. Only the shortest form is read, so that one record has one spelling. Random numbers and hashes are 8 bytes.
extension Record {
    /// The first byte of a record. A number is never used for another layout.
    enum Kind: UInt8 {
        case event = 1
        case refused = 2
        case completed = 3
        case skipped = 4
        case attemptEnded = 5
        case sessionOpened = 6
        case sessionRetired = 7
        case epochBegun = 8
        case definition = 9
        case stateHash = 10
        case quarantined = 11
        case operatorAction = 12
        case historyBegun = 13
        case stateMarked = 14
        case markHash = 15
        case sessionOwned = 16
        /// An event of a timer.
        case timerFired = 17
        /// An event of a schedule, or the schedule's next time.
        case scheduled = 18
        /// A refusal with a detail.
        case refusedInDetail = 19
        case granted = 20
    }

    /// Appends the record. The caller keeps the array, and so its capacity.
    package func write(to output: inout [UInt8]) {
        switch self {
        case .event(let event): event.write(to: &output)
        case .refused(let refusal): refusal.write(to: &output)
        case .completed(let session, let number, let effect, let attempt):
            output.fields(.completed) {
                $0.varint(session.value)
                $0.varint(number)
                $0.effect(effect)
                $0.attempt(attempt)
            }
        case .skipped(let session, let number):
            output.fields(.skipped) {
                $0.varint(session.value)
                $0.varint(number)
            }
        case .granted(let grants): grants.write(to: &output)
        case .attemptEnded(let end): end.write(to: &output)
        case .sessionOpened(let session, let peer):
            output.fields(.sessionOpened) {
                $0.varint(session.value)
                $0.u64(peer.high)
                $0.u64(peer.low)
            }
        case .sessionOwned(let session, let owner):
            output.fields(.sessionOwned) {
                $0.varint(session.value)
                $0.key(owner)
            }
        case .sessionRetired(let session): output.fields(.sessionRetired) { $0.varint(session.value) }
        case .epochBegun(let epoch, let time):
            output.fields(.epochBegun) {
                $0.varint(epoch.number)
                $0.u64(epoch.nonce)
                $0.time(time)
            }
        case .definition(let definition): definition.write(to: &output)
        case .stateHash(let seq, let hash):
            output.fields(.stateHash) {
                $0.varint(seq.value)
                $0.u64(hash)
            }
        case .stateMarked(let seq): output.fields(.stateMarked) { $0.varint(seq.value) }
        case .markHash(let seq, let hash):
            output.fields(.markHash) {
                $0.varint(seq.value)
                $0.u64(hash)
            }
        case .quarantined(let quarantine): quarantine.write(to: &output)
        case .scheduled(let record): ScheduleBytes.write(record, to: &output)
        case .operatorAction(let action): action.write(to: &output)
        case .historyBegun(let history, let time):
            output.fields(.historyBegun) {
                $0.u64(history.value)
                $0.time(time)
            }
        }
    }

    /// Reads one record. The bytes of an event are a slice of the reader's array.
    /// - Throws: `WireError` if the bytes do not begin with a record of this version.
    package init(from reader: inout ByteReader) throws(WireError) {
        let code = try reader.u8("record kind")
        guard let kind = Kind(rawValue: code) else {
            throw .malformed(what: "record kind \(code)", offset: reader.position - 1)
        }
        switch kind {
        case .event: self = .event(try EventRecord(from: &reader))
        case .timerFired: self = .event(try EventRecord(ofTimerFrom: &reader))
        case .scheduled: self = try ScheduleBytes.read(from: &reader)
        case .refused: self = .refused(try RefusalRecord(from: &reader))
        case .refusedInDetail: self = .refused(try RefusalRecord(inDetailFrom: &reader))
        case .completed:
            self = .completed(
                try reader.session(), number: try reader.varint(), try reader.shortEffect(),
                try reader.shortAttempt())
        case .skipped: self = .skipped(try reader.session(), number: try reader.varint())
        case .granted: self = .granted(try GrantRecord(from: &reader))
        case .attemptEnded: self = .attemptEnded(try AttemptEnd(from: &reader))
        case .sessionOpened:
            self = .sessionOpened(
                try reader.session(), PeerID(high: try reader.u64("peer"), low: try reader.u64("peer")))
        case .sessionOwned: self = .sessionOwned(try reader.session(), try reader.publicKey())
        case .sessionRetired: self = .sessionRetired(try reader.session())
        case .epochBegun:
            self = .epochBegun(
                Epoch(number: try reader.varint(), nonce: try reader.u64("nonce")), try reader.time())
        case .definition: self = .definition(try DefinitionRecord(from: &reader))
        case .stateHash: self = .stateHash(Seq(try reader.varint()), try reader.u64("hash"))
        case .quarantined: self = .quarantined(try QuarantineRecord(from: &reader))
        case .operatorAction: self = .operatorAction(try OperatorAction(from: &reader))
        case .stateMarked: self = .stateMarked(Seq(try reader.varint()))
        case .markHash: self = .markHash(Seq(try reader.varint()), try reader.u64("hash"))
        case .historyBegun: self = .historyBegun(History(try reader.u64("history")), try reader.time())
        }
    }

    /// Reads records up to the end of the bytes, and appends them.
    /// - Throws: `WireError` for the first record that cannot be read; those before it have been added.
    package static func read(_ bytes: ArraySlice<UInt8>, into records: inout [Record]) throws(WireError) {
        var reader = ByteReader(bytes)
        while !reader.isAtEnd { records.append(try Record(from: &reader)) }
    }
}
