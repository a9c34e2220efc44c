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
    private var replayIsExact: ReplayIsExact
    private var observersConverge = ObserversConverge()
    private var bounded = Bounded()
    private var poisonIsSetAside = PoisonIsSetAside()
    /// What was judged outside of a checker.
    private var otherCounts: [Promise: Int] = [:]

    /// - Parameter hasShadow: whether every record is applied to a second state as it comes.
    package init(hasShadow: Bool) { replayIsExact = ReplayIsExact(hasShadow: hasShadow) }

    package mutating func observe(_ observation: Observation) throws(Violation) {
        try book.note(observation)
        switch observation {
        case .began, .journaled:
            try nothingLost.observe(observation, book)
            try nothingTwice.observe(observation, book)
            try poisonIsSetAside.observe(observation, book)
            try followJournal(observation)
        case .lost:
            try oneOwner.observe(observation, book)
            try nothingLost.observe(observation, book)
            try nothingTwice.observe(observation, book)
            try poisonIsSetAside.observe(observation, book)
        case .trapped, .retried: try poisonIsSetAside.observe(observation, book)
        case .left:
            try nothingStale.observe(observation, book)
            try durableBeforeVisible.observe(observation, book)
            try observersConverge.observe(observation, book)
        case .accepted, .sent: break
        case .told, .died: try nothingLost.observe(observation, book)
        case .ran: try oneOwner.observe(observation, book)
        case .measured: try bounded.observe(observation, book)
        case .settled:
            count(.progress)
            try nothingLost.observe(observation, book)
            try poisonIsSetAside.observe(observation, book)
        }
    }

    /// What these know follows from the records that the journal has.
    private mutating func followJournal(_ observation: Observation) throws(Violation) {
        try oneOrder.observe(observation, book)
        try nothingStale.observe(observation, book)
        try oneOwner.observe(observation, book)
        try durableBeforeVisible.observe(observation, book)
        try replayIsExact.observe(observation, book)
        try observersConverge.observe(observation, book)
    }

    /// A record became durable.
    package mutating func journal(_ history: History, _ record: Record) throws(Violation) {
        try observe(.journaled(journaled(history, record)))
    }

    /// Acknowledged records are gone that were not promised to last: what is left is all that ever was.
    package mutating func lose(_ lost: [Record], keeping records: [Record], of history: History) throws(Violation) {
        try observe(.lost(journaled(history, lost, after: records)))
        try followJournal(.began(history))
        for journaled in journaled(history, records) { try followJournal(.journaled(journaled)) }
    }

    /// The records with what stands behind them, in the history that each is of.
    private func journaled(_ first: History, _ records: [Record], after earlier: [Record] = []) -> [JournaledRecord] {
        var history = first
        for case .historyBegun(let begun, _) in earlier { history = begun }
        return records.map { record in
            defer { if case .historyBegun(let begun, _) = record { history = begun } }
            return journaled(history, record)
        }
    }

    private func journaled(_ history: History, _ record: Record) -> JournaledRecord {
        var journaled = JournaledRecord(history: history, record: record)
        if let (session, number) = record.entry { journaled.entry = book.entry(history, session, number) }
        if case .event(let event) = record { journaled.event = SlotEvent(event.bytes) }
        return journaled
    }

    /// The reducer stands between two turns; everything it did is durable.
    /// - Parameter wholly: whether everything is compared, or only what tells most differences.
    package mutating func rest(_ core: JournaledState<SlotLoop>, wholly: Bool) throws(Violation) {
        try replayIsExact.compare(core, wholly: wholly)
    }

    /// A promise was judged outside of its checker.
    package mutating func count(_ promise: Promise) { otherCounts[promise, default: 0] += 1 }

    package var checkCounts: [Promise: Int] {
        let all: [any Checker] = [
            oneOrder, nothingLost, nothingTwice, nothingStale, oneOwner, durableBeforeVisible, replayIsExact,
            observersConverge, bounded, poisonIsSetAside,
        ]
        var counts = otherCounts
        for checker in all { counts[type(of: checker).promise, default: 0] += checker.checkCount }
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
