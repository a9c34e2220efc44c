package import LoopCore

/// The loop that the simulator runs: a few slots that are switched on and off. Each wants one effect while it is on.
///
/// If their version changes, slots 0 and 1 keep their effect and get an update, and slots 2 and 3 restart it. Slots 4 to 7 are jobs
/// with limits of concurrency and time. The loop ends on request. With timers, it also has deadlines.
package struct SlotLoop: LoopDefinition {
    package static let name = "slots"
    package static let slotCount = 8

    let hasTimers: Bool

    package init(hasTimers: Bool = false) { self.hasTimers = hasTimers }

    package var initial: SlotState {
        var state = SlotState()
        if hasTimers { state.deadlines = TrackedDictionary() }
        return state
    }

    private func reduceSlots(_ state: inout SlotState, _ event: SlotEvent) {
        if event.kind == .end { state.endedBy = event.id }
        guard state.slots.indices.contains(event.slot) else { return }
        var slot = state.slots[event.slot]
        switch event.kind {
        case .on:
            state.marks[UInt64(event.slot)] = event.id
            if !slot.isWanted { slot.version += 1 }
            slot.isWanted = true
        case .off, .finish:
            state.marks[UInt64(event.slot)] = nil
            slot.isWanted = false
        case .bump:
            state.marks[UInt64(event.slot)] = event.id
            slot.version += 1
        case .step, .poison, .end, .setTimer, .clearTimer, .expired, .ran: return
        }
        if slot != state.slots[event.slot] { state.set(slot, at: event.slot) }
    }

    package func reduce(into state: inout SlotState, _ event: SlotEvent, _ transition: Transition) {
        reduceSlots(&state, event)
        if state.deadlines != nil { reduceTimers(&state, event, transition) }
        // Every input of `reduce` goes into the digest, so that a replay that differs shows.
        var random = transition.random
        for part in [event.id, transition.seq.value, UInt64(bitPattern: transition.time.milliseconds), random.next()] {
            state.digest = (state.digest ^ part) &* 0x0000_0100_0000_01b3
        }
    }

    /// Deadlines are in the past or within a few seconds. An expired one is sometimes set again.
    private func reduceTimers(_ state: inout SlotState, _ event: SlotEvent, _ transition: Transition) {
        var random = transition.random
        let key = UInt64(event.slot)
        let time = transition.time + .milliseconds(Int64.random(in: -500...3500, using: &random))
        switch event.kind {
        case .setTimer: state.deadlines?[key] = time
        case .clearTimer: state.deadlines?[key] = nil
        case .expired:
            let isSetAgain = Int.random(in: 0..<3, using: &random) == 0
            // Some stay unchanged: a timer that has fired does so only once, even if its key stays.
            if isSetAgain { state.deadlines?[key] = time } else if key % 4 > 0 { state.deadlines?[key] = nil }
        case .on, .off, .bump, .step, .finish, .poison, .end, .ran: return
        }
    }

    /// The answer to a client's event is the digest, which no other state has.
    package func answer(to event: SlotEvent, in state: SlotState) -> UInt64? {
        switch event.kind {
        case .on, .off, .bump, .end: state.digest
        case .step, .finish, .poison, .setTimer, .clearTimer, .expired, .ran: nil
        }
    }

    package func outcome(of state: SlotState) -> Outcome? {
        state.endedBy.map { Outcome(text: "ended by event \($0)", exitCode: Int32($0 % 2)) }
    }

    package var feedbacks: [Feedback<SlotState, SlotEvent>] {
        let all = [
            updating, restarting(2, .exponential(max: 4, first: .milliseconds(50))), restarting(3, .never), jobs,
        ]
        return hasTimers ? all + [deadlines] + schedules : all
    }

    private var schedules: [Feedback<SlotState, SlotEvent>] {
        // Their runs are far enough apart for a slow observer to reach the newest state between two of them.
        let all: [(String, Int, MissedRuns)] = [("once", 11, .once), ("all", 7, .all(atMost: 3)), ("skip", 17, .skip)]
        return all.map { name, seconds, missed in
            .schedule(name, .every(.seconds(seconds)), missed: missed) { run in
                SlotEvent(kind: .ran, slot: seconds, id: UInt64(bitPattern: run.due.milliseconds))
            }
        }
    }

    /// Keys from `poisonedKey` on send events that some builds cannot reduce.
    package static let poisonedKey = 128

    private var deadlines: Feedback<SlotState, SlotEvent> {
        .timer("deadline", at: { (state: SlotState) in state.deadlines ?? TrackedDictionary() }) { (key: UInt64) in
            SlotEvent(kind: key >= Self.poisonedKey ? .poison : .expired, slot: Int(key), id: key)
        }
    }

    package var sections: [StateSection<SlotState>] {
        [StateSection("marks", \.marks), StateSection("slots", \.slots)]
    }

    private var updating: Feedback<SlotState, SlotEvent> {
        Feedback(
            name: "updating", placement: .workers, policy: EffectPolicy(retry: SlotLoop.patient),
            query: {
                KeyedQuery<SlotState, SlotEvent, UInt64, UInt64> { $0.updating }
            },
            effect: { (_: UInt64, _) in .none })
    }

    private func restarting(_ slot: Int, _ retry: Retry) -> Feedback<SlotState, SlotEvent> {
        Feedback(
            name: "restarting \(slot)", placement: .workers, policy: EffectPolicy(retry: retry),
            query: {
                SwitchingQuery<SlotState, SlotEvent, UInt64>(renewal: .whenDifferent(==)) { state, _ in
                    state.slots[slot].isWanted ? .wanted(state.slots[slot].version) : .nothing
                }
            },
            effect: { (_: UInt64, _) in .none })
    }

    private var jobs: Feedback<SlotState, SlotEvent> {
        Feedback(
            name: "jobs", placement: .workers,
            policy: EffectPolicy(
                retry: SlotLoop.patient, timeout: .milliseconds(1500), concurrency: 3, concurrencyPerGroup: 1),
            query: {
                KeyedQuery<SlotState, SlotEvent, UInt64, UInt64> { $0.jobs }
            },
            effect: { (_: UInt64, _) in .none }
        )
        .grouped { (request: UInt64) in "\(request % 2)" }
    }

    private static let patient = Retry.exponential(max: 1000, first: .milliseconds(20), longest: .milliseconds(400))
}

/// The state of the simulator's loop.
package struct SlotState: Equatable, Sendable {
    package struct Slot: Codable, Equatable, Sendable {
        package var isWanted = false
        package var version: UInt64 = 0
    }

    package private(set) var slots = Array(repeating: Slot(), count: SlotLoop.slotCount)
    /// The requests of slots 0 and 1, and of slots 4 to 7. They follow from the slots, and are stored so that a query costs nothing
    /// while its slots are unchanged.
    package private(set) var updating: [UInt64: UInt64] = [:]
    package private(set) var jobs: [UInt64: UInt64] = [:]
    /// The client's last request for each slot that is not off.
    package var marks = TrackedDictionary<UInt64, UInt64>()
    /// The digest, which changes with every event and with every input of `reduce`.
    package var digest: UInt64 = 0xcbf2_9ce4_8422_2325
    /// The id of the event that has ended the loop.
    package var endedBy: UInt64?
    /// When each key is due, or nil in a loop without timers.
    package var deadlines: TrackedDictionary<UInt64, WallTime>?

    package mutating func set(_ slot: Slot, at index: Int) {
        slots[index] = slot
        switch index {
        case 0, 1: updating[UInt64(index)] = slot.isWanted ? slot.version : nil
        case 4...: jobs[UInt64(index)] = slot.isWanted ? UInt64(index) : nil
        default: break
        }
    }

    package static func == (a: SlotState, b: SlotState) -> Bool {
        a.digest == b.digest && a.slots == b.slots && a.marks == b.marks && a.endedBy == b.endedBy
            && a.deadlines == b.deadlines
    }
}

extension SlotState: Codable {
    private enum CodingKeys: CodingKey { case slots, marks, digest, endedBy, deadlines }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        for (index, slot) in try container.decode([Slot].self, forKey: .slots).enumerated() where index < slots.count {
            set(slot, at: index)
        }
        marks = try container.decode(TrackedDictionary<UInt64, UInt64>.self, forKey: .marks)
        digest = try container.decode(UInt64.self, forKey: .digest)
        endedBy = try container.decodeIfPresent(UInt64.self, forKey: .endedBy)
        deadlines = try container.decodeIfPresent(TrackedDictionary<UInt64, WallTime>.self, forKey: .deadlines)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(slots, forKey: .slots)
        try container.encode(marks, forKey: .marks)
        try container.encode(digest, forKey: .digest)
        try container.encodeIfPresent(endedBy, forKey: .endedBy)
        try container.encodeIfPresent(deadlines, forKey: .deadlines)
    }
}

/// One event of the simulator's loop, which its id distinguishes from all others.
package struct SlotEvent: Codable, Equatable, Sendable {
    package enum Kind: UInt8, Codable, Sendable, CaseIterable {
        case on = 1
        case off = 2
        case bump = 3
        /// An effect did something.
        case step = 4
        /// An effect reports that its slot is no longer wanted.
        case finish = 5
        /// An event that some builds of the loop cannot reduce: reducing it ends the process.
        case poison = 6
        /// Ends the loop.
        case end = 7
        /// A deadline is set, or cleared.
        case setTimer = 8
        case clearTimer = 9
        /// The event of a deadline.
        case expired = 10
        /// The event of a schedule.
        case ran = 11
    }

    package var kind: Kind
    package var slot: Int
    package var id: UInt64
}
