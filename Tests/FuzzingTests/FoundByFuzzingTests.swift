import CBOR
import LoopCluster
import LoopCollections
import LoopCore
import LoopJournal
import LoopWire
import Testing

/// What fuzzing has found, one by one, each with its story.
@Suite struct `Found by fuzzing` {
    @Test func `an observer bears transitions with the largest seq there is`() {
        var observer = ObserverMachine(Following(.updates(UpdateStream(.full)), transitions: true), at: .zero)
        let (history, epoch) = (History(1), Epoch(number: 1, nonce: 1))
        func note(_ seq: UInt64) -> TransitionNote {
            TransitionNote(
                seq: Seq(seq), time: WallTime(milliseconds: 0), session: SessionID(1), effect: nil, event: [])
        }
        func hear(_ seq: UInt64) -> [ObserverAction] {
            observer.receivePublished(
                PeerFrame(history: history, epoch: epoch, session: .none, message: .transitions([note(seq)])), at: .zero
            )
            return observer.takeActions()
        }
        #expect(hear(.max) == [.begins(history, epoch), .transitions([note(.max)])])
        // What comes next would have a seq that there is not.
        #expect(hear(3) == [])
    }

    @Test func `an entry that ended the process as often as can be counted stays a suspect`() throws {
        let page = SharedWords(count: CrashNote.byteCount / 8)
        // The note's words: an entry, number 5 of session 2; and the same as a suspect, whose count is full.
        let words: [Int: UInt64] = [
            0: 0x4c6f_6f70_4e6f_7401, 1: 1, 5: 1, 6: 2, 7: 2, 8: 5, 16: .max, 17: 2, 18: 2, 19: 5,
        ]
        for (place, word) in words { page[place] = word }
        let note = CrashNote(page)
        guard case .suspect(let suspect) = note.begin(history: History(1), executable: 1, thread: 1) else {
            Issue.record("no event is blamed")
            return
        }
        #expect(suspect.number == 5 && suspect.crashes == .max)
        #expect(note.suspects == [suspect])
    }

    private func state() -> JournaledState {
        JournaledState(definition: Counter(), coder: CBORCoder(), history: History(1))
    }

    @Test(
        arguments: [
            .event(event(seq: .max)), .event(event(seq: 1 << 62)), .event(event(seq: 0)),
            .epochBegun(Epoch(number: .max, nonce: 1), WallTime(milliseconds: 0)),
            .sessionOpened(SessionID(.max), PeerID(high: 1, low: 1)), .skipped(SessionID(1), number: .max),
            .completed(SessionID(1), number: 1 << 62, EffectID(feedback: 0, seq: Seq(1), index: 0), .none),
        ] as [Record])
    func `a record whose numbers leave no room for the next is refused`(record: Record) throws {
        var state = state()
        try state.apply(.definition(state.ownDefinition))
        let before = state.digest().hash
        #expect(throws: RecordDoesNotFit.self) { try state.apply(record) }
        #expect(state.digest().hash == before)
    }

    @Test func `a record of an entry that its session has consumed already is refused`() throws {
        var state = state()
        try state.apply(.definition(state.ownDefinition))
        try state.apply(.sessionOpened(SessionID(1), PeerID(high: 1, low: 1)))
        func refusal(_ number: UInt64) -> Record {
            .refused(
                RefusalRecord(
                    session: SessionID(1), number: number, reason: .undecodable, effect: nil, attempt: .none))
        }
        try state.apply(refusal(5))
        #expect(throws: RecordDoesNotFit.self) { try state.apply(refusal(5)) }
        #expect(throws: RecordDoesNotFit.self) { try state.apply(refusal(2)) }
    }

    @Test func `a record that gives out a number again is refused`() throws {
        var state = state()
        try state.apply(.definition(state.ownDefinition))
        try state.apply(.epochBegun(Epoch(number: 3, nonce: 1), WallTime(milliseconds: 0)))
        try state.apply(.sessionOpened(SessionID(1), PeerID(high: 1, low: 1)))
        try state.apply(.sessionRetired(SessionID(1)))
        try state.apply(Self.quarantined(id: 1, number: 1))
        let again: [Record] = [
            .epochBegun(Epoch(number: 3, nonce: 2), WallTime(milliseconds: 0)),
            .epochBegun(Epoch(number: 2, nonce: 2), WallTime(milliseconds: 0)),
            .sessionOpened(SessionID(1), PeerID(high: 1, low: 2)), Self.quarantined(id: 1, number: 2),
        ]
        for record in again { #expect(throws: RecordDoesNotFit.self) { try state.apply(record) } }
    }

    private static func quarantined(id: UInt64, number: UInt64) -> Record {
        .quarantined(
            QuarantineRecord(
                id: id, time: WallTime(milliseconds: 0), session: SessionID(1), number: number, effect: nil,
                attempt: .none, phase: .reducing, crashes: 2, bytes: []))
    }

    private static func event(seq: UInt64) -> EventRecord {
        EventRecord(
            seq: Seq(seq), time: WallTime(milliseconds: 0), session: SessionID(1), number: 1, effect: nil,
            attempt: .none, wantsSeq: false, bytes: [0])
    }

    @Test func `a large array of what an element cannot be costs little more than its bytes`() async {
        // A map in an array takes a byte, and its place in memory hundreds: no room is made before it was read.
        await #expect(processExitsWith: .success) {
            try AddressSpace.limit(toFurther: 512 << 20)
            let bytes = [0x9a, 0x00, 0x40, 0x00, 0x00] + [UInt8](repeating: 0, count: 4 << 20)
            #expect(throws: WireError.self) { try CBOR.decode([Wide].self, from: bytes) }
            #expect(throws: WireError.self) {
                try CBOR.decode([Wide: Wide].self, from: [0xba, 0, 0x20, 0, 0] + bytes.dropFirst(5))
            }
        }
    }
}

/// A type whose values are large in memory.
private struct Wide: Codable, Hashable {
    var a: [UInt64]
    // 512 bytes.
    var b: Eight<Eight<UInt64>>
}

private struct Eight<Part: Codable & Hashable>: Codable, Hashable {
    var a: Part, b: Part, c: Part, d: Part, e: Part, f: Part, g: Part, h: Part
}

private struct Counter: LoopDefinition {
    static let name = "counter"
    var initial: Int { 0 }
    var feedbacks: [Feedback<Int, Int>] { [] }
    func reduce(into state: inout Int, _ event: Int, _: Transition) { state &+= event }
}
