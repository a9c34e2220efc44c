package import LoopCluster
import LoopCore
package import LoopWire

/// All checkers of one run. Each sees only what concerns its promise, and most observations concern few of them.
package struct Checkers<Work: Workload>: Sendable {
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
    private var lossIsNoticed = LossIsNoticed()
    private var bounded = Bounded()
    private var poisonIsSetAside = PoisonIsSetAside()
    private var onlyWhoMay: OnlyWhoMay
    private var inTime: InTime<Work>
    private var answersAreTrue: AnswersAreTrue<Work>
    /// Whether only the promises that need no keys are checked, whatever hostile processes do: G1, G7, G8, G10 and G11.
    private let isUnguarded: Bool
    /// Checks that were made outside of a checker.
    private var otherCounts: [Promise: Int] = [:]

    /// - Parameters:
    ///   - hasShadow: whether every record is applied to a second state as it comes.
    ///   - isUnguarded: whether hostile processes take part in a loop without keys.
    package init(_ work: Work, hasShadow: Bool, isUnguarded: Bool = false, breaking rules: BrokenRules) {
        self.isUnguarded = isUnguarded
        onlyWhoMay = OnlyWhoMay(placements: work.definition.allFeedbacks.map(\.placement.group))
        inTime = InTime(work)
        model = LoopModel(work)
        replayIsExact = ReplayIsExact(work, hasShadow: hasShadow, breaking: rules)
        observersConverge = ObserversConverge(work)
        answersAreTrue = AnswersAreTrue(work)
    }

    /// The entry with a number of a session.
    func entry(_ history: History, _ session: SessionID, _ number: UInt64) -> SentEntry? {
        book.entry(history, session, number)
    }

    /// The state that the accepted events make.
    var state: Work.Definition.State { model.state }
    var seq: Seq { model.seq }

    /// Passes an observation to the checkers that it concerns.
    package mutating func observe(_ observation: Observation) throws(Violation) {
        if isUnguarded { return try observeUnguarded(observation) }
        switch observation {
        case .began(let history):
            nothingLost.begin()
            nothingTwice.begin()
            poisonIsSetAside.begin()
            try begin(history)
        case .journaled(let journaled):
            try nothingLost.follow(journaled)
            try nothingTwice.follow(journaled)
            try poisonIsSetAside.follow(journaled)
            try follow(journaled)
        case .lost(let records):
            book.lose(records)
            oneOwner.lose(records)
            nothingLost.lose(records)
            nothingTwice.lose(records)
            poisonIsSetAside.lose(records)
            answersAreTrue.lose(records)
        case .retried(let id): poisonIsSetAside.retry(id)
        case .trapped(let id, let isItsFault): try poisonIsSetAside.trap(in: id, book[id], isItsFault)
        case .trappedInTimer(let timer, let isItsFault): try poisonIsSetAside.trap(in: timer, isItsFault)
        case .trappedAgain(let id): try poisonIsSetAside.trapAgain(in: id)
        case .askedToJoin(let joinRequest): lossIsNoticed.note(joinRequest)
        case .left(let message):
            try onlyWhoMay.check(message)
            try lossIsNoticed.check(message)
            try nothingStale.check(message, model)
            try durableBeforeVisible.check(message, model)
            try observersConverge.check(message, model)
        case .accepted(let entry): book.accept(entry)
        case .goesOn(let history, let session, let number): book.forget(history, session, after: number)
        case .sent(let session, let first, let ids):
            try nothingLost.send(in: session)
            try book.send(session.history, session.session, first, ids)
        case .saidGoodbye(let session): nothingLost.leave(session)
        case .inherited(let ids, let peer): for id in ids { book.inherit(id, by: peer) }
        case .told(let id, let outcome, let detail, let isUnheard):
            try nothingLost.compare(id, outcome, detail, isUnheard, book)
        case .answered(let id, let answer): try answersAreTrue.compare(id, answer)
        case .died(let peer):
            nothingLost.die(peer)
            observersConverge.remove(peer)
        case .departed(let peer):
            try nothingLost.depart(peer, book)
            observersConverge.remove(peer)
        case .watches(let peer, let watched): observersConverge.add(peer, watched)
        case .damaged(let peer): observersConverge.damage(peer)
        case .repaired(let peer): observersConverge.repair(peer)
        case .beganAnew(let peer): observersConverge.beginAnew(peer)
        case .beganEpoch(let peer): observersConverge.beginEpoch(peer)
        case .shown(let peer, let history, let action): try observersConverge.show(action, history, peer, model)
        case .observedEnd(let peer, let history, let seq, let mustBeThere):
            guard mustBeThere else { return }
            try observersConverge.demandLast(history, seq, peer, model)
        case .ran(let peer, let history, let grant): try oneOwner.run(grant, history, on: peer)
        case .forgotten(let history, let effect, let attempt): oneOwner.forget(history, effect, attempt)
        case .measured(let entries, let entriesMax, let lag, let lagMax):
            try bounded.check(entries, max: entriesMax, lag: lag, max: lagMax)
        case .queued(let queue, let max): try bounded.check(queue, max: max)
        case .turnBegan(let progress): onlyWhoMay.beginTurn(progress)
        case .turnEnded: try onlyWhoMay.endTurn()
        case .keysAdmitted(let keys): onlyWhoMay.admit(keys)
        case .judged(let heard, let principal, let before, let after):
            try onlyWhoMay.judge(heard, by: principal, from: before, to: after)
        case .overheard(let peer, let key): try onlyWhoMay.overhear(peer, by: key)
        case .settled:
            count(.progress)
            try nothingLost.settle(book)
            try observersConverge.settle(model)
        }
    }

    /// The promises that need no keys, whatever hostile processes do.
    static var unguarded: Set<Promise> {
        [.oneOrder, .durableBeforeVisible, .replayIsExact, .bounded, .poisonIsSetAside]
    }

    private mutating func observeUnguarded(_ observation: Observation) throws(Violation) {
        switch observation {
        case .began(let history): try begin(history)
        case .journaled(let journaled): try follow(journaled)
        case .left(let message): try durableBeforeVisible.check(message, model)
        case .measured(let entries, let entriesMax, let lag, let lagMax):
            try bounded.check(entries, max: entriesMax, lag: lag, max: lagMax)
        case .queued(let queue, let max): try bounded.check(queue, max: max)
        case .settled: count(.progress)
        // Hostile processes can decide what becomes of other processes and of their messages.
        case .lost, .retried, .trapped, .trappedInTimer, .trappedAgain, .askedToJoin, .accepted, .goesOn, .sent,
            .saidGoodbye,
            .inherited,
            .told, .answered, .died, .departed, .watches, .damaged, .repaired, .beganAnew, .beganEpoch, .shown,
            .observedEnd, .ran,
            .forgotten,
            .turnBegan, .turnEnded, .keysAdmitted, .judged, .overheard:
            break
        }
    }

    /// What an observer has not been shown yet, or nil if nothing is missing.
    func lacks(observer peer: Int) -> String? { observersConverge.lacks(peer, model) }

    /// When a timer is due that has not fired, or nil if the effect is no such timer.
    func timer(_ effect: EffectID) -> WallTime? { model.timers[effect]?.time }

    /// A journal begins. These checkers know only what its records contain.
    private mutating func begin(_ history: History) throws(Violation) {
        oneOrder.begin()
        inTime.begin()
        nothingStale.begin()
        oneOwner.begin(history)
        durableBeforeVisible.begin(history)
        replayIsExact.begin(history)
        lossIsNoticed.begin(history)
        onlyWhoMay.begin(history)
        observersConverge.begin(model)
        try model.begin(history)
    }

    private mutating func follow(_ journaled: JournaledRecord) throws(Violation) {
        try oneOrder.follow(journaled.record)
        if isUnguarded {
            durableBeforeVisible.follow(journaled.record)
            try replayIsExact.follow(journaled.record)
            return try model.follow(journaled.record)
        }
        // These checks use the loop as the events before the record have made it.
        try inTime.follow(journaled.record, model)
        try nothingStale.follow(journaled.record, model)
        try oneOwner.follow(journaled)
        durableBeforeVisible.follow(journaled.record)
        try replayIsExact.follow(journaled.record)
        lossIsNoticed.follow(journaled.record)
        onlyWhoMay.follow(journaled.record)
        try model.follow(journaled.record)
        try answersAreTrue.follow(journaled, model)
    }

    /// A record became durable.
    package mutating func journal(_ history: History, _ record: Record) throws(Violation) {
        try observe(.journaled(journaled(history, record)))
    }

    /// Acknowledged records are lost whose durability was not promised. The others are the whole journal from now on.
    mutating func lose(_ lost: [Record], keeping records: [Record], of history: History) throws(Violation) {
        try observe(.lost(journaled(history, lost, after: records)))
        try begin(history)
        for journaled in journaled(history, records) { try follow(journaled) }
    }

    /// Each record with its history, and with the entry that it consumes.
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

    /// The reducer is between two turns, and everything that it did is durable.
    /// - Parameter wholly: whether to compare everything, or only what shows most differences.
    mutating func rest(_ core: JournaledState, wholly: Bool) throws(Violation) {
        try replayIsExact.compare(core, wholly: wholly)
    }

    /// Counts a check of a promise outside of its checker.
    mutating func count(_ promise: Promise) { otherCounts[promise, default: 0] += 1 }

    var checkCounts: [Promise: Int] {
        let all: [any Checker] = [
            oneOrder, nothingLost, nothingTwice, nothingStale, oneOwner, durableBeforeVisible, replayIsExact,
            observersConverge, lossIsNoticed, bounded, poisonIsSetAside, onlyWhoMay,
            inTime, answersAreTrue,
        ]
        var counts = otherCounts
        counts[.snapshotComesFirst, default: 0] += observersConverge.orderCount
        for checker in all { counts[type(of: checker).promise, default: 0] += checker.checkCount }
        return counts
    }
}
