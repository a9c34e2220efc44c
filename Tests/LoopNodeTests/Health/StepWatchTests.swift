import LoopCollections
import LoopCore
import LoopWire
import Testing

@testable import LoopCluster
@testable import LoopNode

@Suite struct `A watch of the reducer's steps` {
    private let note = CrashNote()
    private let watch = StepWatch()
    private enum Event: Codable {
        case added(Int)
        case cleared
    }

    init() { watch.show(note) }

    private func enter(_ event: some Encodable) throws {
        note.enter(SessionID(1), 1, nil, try CBORCoder().encode(event)[...])
    }

    @Test func `counts the time of a step for the event or the query that it sees`() throws {
        watch.look(after: .seconds(9))
        try enter(Event.added(7))
        watch.look(after: .seconds(9))
        note.step(.reducing)
        watch.look(after: .seconds(1))
        #expect(watch.present == CrashNote.Step(phase: .reducing, event: "added", query: 0))
        note[.step] = UInt64(QuarantineRecord.Phase.query.rawValue) | 2 << 8
        watch.look(after: .seconds(2))
        note.endQueries()
        watch.look(after: .seconds(9))
        note.step(.answering)
        watch.look(after: .seconds(9))
        note.leave()
        watch.look(after: .seconds(9))
        try enter(Event.cleared)
        note.step(.reducing)
        watch.look(after: .seconds(3))
        watch.show(nil)
        watch.look(after: .seconds(9))
        #expect(watch.figures.reduces == ["added": .seconds(1), "cleared": .seconds(3)])
        #expect(watch.figures.queries == [2: .seconds(2)])
    }

    @Test func `has a limit of names, and calls events that show no case other`() throws {
        for event in [
            try CBORCoder().encode(5), try CBORCoder().encode("added"), try CBORCoder().encode([1: 2, 3: 4]),
        ] {
            note.enter(SessionID(1), 1, nil, event[...])
            note.step(.reducing)
            watch.look(after: .seconds(1))
        }
        #expect(watch.figures.reduces == ["other": .seconds(3)])
        for number in 0...StepWatch.namesMax {
            try enter(["event\(number)": 1])
            note.step(.reducing)
            watch.look(after: .seconds(1))
        }
        #expect(watch.figures.reduces.count == StepWatch.namesMax)
        #expect(watch.figures.reduces["other"] == .seconds(5))
    }
}
