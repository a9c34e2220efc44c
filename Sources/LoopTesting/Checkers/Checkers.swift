package import LoopCluster
package import LoopWire

/// All checkers over one run. Each sees only what its promise is about: most of what happens concerns few of them.
package struct Checkers: Sendable {
    private var book = EntryBook()
    private var oneOrder = OneOrder()
    private var nothingLost = NothingLost()
    private var nothingTwice = NothingTwice()
    private var nothingStale = NothingStale()
    private var oneOwner = OneOwner()
    private var durableBeforeVisible = DurableBeforeVisible()
    private var replayIsExact = ReplayIsExact()
    private var observersConverge = ObserversConverge()
    private var bounded = Bounded()
    /// How often PROGRESS was judged.
    private var progressCount = 0

    package init() {}

    package mutating func observe(_ observation: Observation) throws(Violation) {
        try book.note(observation)
        switch observation {
        case .began, .journaled:
            try oneOrder.observe(observation, book)
            try nothingLost.observe(observation, book)
            try nothingTwice.observe(observation, book)
            try nothingStale.observe(observation, book)
            try oneOwner.observe(observation, book)
            try durableBeforeVisible.observe(observation, book)
            try replayIsExact.observe(observation, book)
            try observersConverge.observe(observation, book)
        case .left:
            try nothingStale.observe(observation, book)
            try durableBeforeVisible.observe(observation, book)
            try observersConverge.observe(observation, book)
        case .accepted, .sent: break
        case .told, .died: try nothingLost.observe(observation, book)
        case .ran: try oneOwner.observe(observation, book)
        case .measured: try bounded.observe(observation, book)
        case .settled:
            progressCount += 1
            try nothingLost.observe(observation, book)
        }
    }

    /// A record became durable.
    package mutating func journal(_ history: History, _ record: Record) throws(Violation) {
        var journaled = JournaledRecord(history: history, record: record)
        if let (session, number) = record.entry { journaled.entry = book.entry(history, session, number) }
        if case .event(let event) = record { journaled.event = SlotEvent(event.bytes) }
        try observe(.journaled(journaled))
    }

    /// The reducer stands between two turns; everything it did is durable.
    /// - Parameter wholly: whether everything is compared, or only what tells most differences.
    package mutating func rest(_ core: JournaledState<SlotLoop>, wholly: Bool) throws(Violation) {
        try replayIsExact.compare(core, wholly: wholly)
    }

    package var checkCounts: [Promise: Int] {
        let all: [any Checker] = [
            oneOrder, nothingLost, nothingTwice, nothingStale, oneOwner, durableBeforeVisible, replayIsExact,
            observersConverge, bounded,
        ]
        var counts: [Promise: Int] = [.progress: progressCount]
        for checker in all { counts[type(of: checker).promise] = checker.checkCount }
        return counts
    }
}

extension SlotEvent {
    /// The event of an entry's bytes; nil: there is none.
    init?(_ bytes: ArraySlice<UInt8>) {
        guard let event = try? SlotCoder().decode(SlotEvent.self, from: Array(bytes)) else { return nil }
        self = event
    }
}
