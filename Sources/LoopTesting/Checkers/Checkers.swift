package import LoopCluster
import LoopCore
package import LoopWire

/// All checkers over one run. Each sees only what its promise is about: most of what happens concerns few of them.
package struct Checkers<Work: Workload>: Sendable {
    private let work: Work
    private var book = EntryBook()
    private var model: LoopModel<Work>
    private var oneOrder = OneOrder()
    private var nothingLost = NothingLost()
    private var nothingTwice = NothingTwice()
    private var nothingStale = NothingStale()
    private var oneOwner = OneOwner()
    private var durableBeforeVisible = DurableBeforeVisible()
    private var replayIsExact: ReplayIsExact<Work>
    private var observersConverge: ObserversConverge<Work>
    private var snapshotComesFirst = SnapshotComesFirst()
    private var lossIsNoticed = LossIsNoticed()
    private var bounded = Bounded()
    private var poisonIsSetAside = PoisonIsSetAside()
    /// What was judged outside of a checker.
    private var otherCounts: [Promise: Int] = [:]

    /// - Parameter hasShadow: whether every record is applied to a second state as it comes.
    package init(_ work: Work, hasShadow: Bool, breaking rules: BrokenRules) {
        self.work = work
        model = LoopModel(work)
        replayIsExact = ReplayIsExact(work, hasShadow: hasShadow, breaking: rules)
        observersConverge = ObserversConverge(work)
    }

    /// The entry behind a session's number.
    func entry(_ history: History, _ session: SessionID, _ number: UInt64) -> SentEntry? {
        book.entry(history, session, number)
    }

    /// The state that the accepted events make.
    var state: Work.Definition.State { model.state }
    var seq: Seq { model.seq }

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
        case .trapped, .trappedAgain, .retried: try poisonIsSetAside.observe(observation, book)
        case .askedToJoin: try lossIsNoticed.observe(observation, book)
        case .left:
            try lossIsNoticed.observe(observation, book)
            try nothingStale.observe(observation, model)
            try durableBeforeVisible.observe(observation, model)
            try observersConverge.observe(observation, model)
        case .accepted, .sent, .goesOn: break
        case .told: try nothingLost.observe(observation, book)
        case .died, .departed:
            try nothingLost.observe(observation, book)
            try observersConverge.observe(observation, model)
            try snapshotComesFirst.observe(observation, book)
        case .damaged, .repaired: try observersConverge.observe(observation, model)
        case .watches, .beganAnew, .shown, .observedEnd:
            try observersConverge.observe(observation, model)
            try snapshotComesFirst.observe(observation, book)
        case .ran, .forgotten: try oneOwner.observe(observation, book)
        case .measured, .queued: try bounded.observe(observation, book)
        case .settled:
            count(.progress)
            try nothingLost.observe(observation, book)
            try poisonIsSetAside.observe(observation, book)
            try observersConverge.observe(observation, model)
            try snapshotComesFirst.observe(observation, book)
        }
    }

    /// What an observer has still to be shown; nil: nothing.
    func lacks(observer peer: Int) -> String? { observersConverge.lacks(peer, model) }

    /// Whether an observer that has come so far in the newest history knows of events that are lost.
    func isLost(_ seq: Seq) -> Bool {
        let history = model.chronicle.histories[model.chronicle.histories.count - 1]
        return observersConverge.knowsWhatIsLost(seq, history, model)
    }

    /// What these know follows from the records that the journal has.
    private mutating func followJournal(_ observation: Observation) throws(Violation) {
        try oneOrder.observe(observation, book)
        // Judged by what the events before it have made of the loop.
        try nothingStale.observe(observation, model)
        try oneOwner.observe(observation, book)
        try durableBeforeVisible.observe(observation, model)
        try replayIsExact.observe(observation, book)
        try snapshotComesFirst.observe(observation, book)
        try lossIsNoticed.observe(observation, book)
        switch observation {
        case .began(let history):
            try observersConverge.observe(observation, model)
            try model.begin(history)
        case .journaled(let journaled): try model.follow(journaled.record)
        default: break
        }
    }

    /// A record became durable.
    package mutating func journal(_ history: History, _ record: Record) throws(Violation) {
        try observe(.journaled(journaled(history, record)))
    }

    /// Acknowledged records are gone that were not promised to last: what is left is all that ever was.
    mutating func lose(_ lost: [Record], keeping records: [Record], of history: History) throws(Violation) {
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
        return journaled
    }

    /// The reducer stands between two turns; everything it did is durable.
    /// - Parameter wholly: whether everything is compared, or only what tells most differences.
    mutating func rest(_ core: JournaledState<TrappedLoop<Work.Definition>>, wholly: Bool) throws(Violation) {
        try replayIsExact.compare(core, wholly: wholly)
    }

    /// A promise was judged outside of its checker.
    mutating func count(_ promise: Promise) { otherCounts[promise, default: 0] += 1 }

    var checkCounts: [Promise: Int] {
        let all: [any Counting] = [
            oneOrder, nothingLost, nothingTwice, nothingStale, oneOwner, durableBeforeVisible, replayIsExact,
            observersConverge, snapshotComesFirst, lossIsNoticed, bounded, poisonIsSetAside,
        ]
        var counts = otherCounts
        for checker in all { counts[type(of: checker).promise, default: 0] += checker.checkCount }
        return counts
    }
}
