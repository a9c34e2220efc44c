import LoopCollections
public import LoopCore
public import LoopWire

/// The reducer's machine, without the types of a definition; `ReducerMachine` says what it is.
///
/// Everything but the state itself, which it holds as an `ErasedFold`: so it is compiled once, for all definitions. Its public
/// methods are what a shell may hand in during a turn: control messages (join requests, claims, heartbeats, requests), batches of
/// entries, subscriptions, answers, and the time.
public struct ReducerCore: Sendable {
    let configuration: ReducerConfiguration
    let brokenRules: BrokenRules

    var core: JournaledCore
    var random: SeededRandom
    var now: Moment
    var startedAt: MonotonicTime
    /// The beginning of the epoch, later by the time for which the process stood still: who was not heard since then is silent.
    var listensSince: MonotonicTime
    /// The journaled time at which the epoch began.
    var beganTime = WallTime(milliseconds: 0)
    /// When time was last taken notice of.
    var advancedAt: MonotonicTime

    /// Whether batches that have arrived wait in the shell's sockets, as of this turn: then it is not known what was lost.
    public var hasUnreadBatches = false

    // This turn's work, until `ready` hands it out.
    var records = RecordLog()
    var messages: [Outbound] = []
    var toAcknowledge: [SessionID] = []
    var notes: [TransitionNote] = []

    // Dispatch.
    var members: [SessionID: Member] = [:]
    /// By the places of `core.effects`, as the scheduler.
    var owners = OwnerTable()
    var scheduler: PlacedScheduler
    /// Effects that the batch which is consumed has ended.
    var completedCount: UInt64 = 0
    var grantsCount: UInt64 = 0
    var timeouts = BinaryHeap<AttemptDeadline>()
    var stranded = Stranded()
    var unclaimed: Set<EffectID> = []
    var awaited: Set<SessionID> = []
    var graceEnds: MonotonicTime
    /// When sessions are next looked at whose peers were silent for long, and, where none could be given up, when that is next
    /// worth a try.
    var nextRetirement = MonotonicTime.zero
    var nextEviction = MonotonicTime.zero

    // Publication.
    var nextTick: MonotonicTime
    var subscriptions = Subscriptions()
    var updates = Updates()
    var transfers: [StateTransfer] = []
    var transfersCount: UInt64 = 0
    var joining: [JoiningObserver] = []

    // Events that end the process; acknowledged records that are missing; how often the state is hashed.
    var poison = PoisonWatch()
    var loss: HistoryLost?
    var hashing = StateHashing()

    // Work for other threads.
    var backgroundJobs: [BackgroundJob] = []
    var jobsCount: UInt64 = 0

    // Administration: what only the journal can answer.
    var journalRequests: [JournalRequest] = []

    // What people are told.
    var counters: [Counter: UInt64] = [:]
    var rate = EventRate()
    var outcome: Outcome?
    var outcomeSeq: Seq?
    private var hasNewOutcome = false

    init(recovered core: JournaledCore, configuration: ReducerConfiguration, seed: UInt64, at now: Moment) {
        self.configuration = configuration
        self.now = now
        self.core = core
        brokenRules = core.brokenRules
        poison.suspects = core.note?.suspects ?? []
        random = SeededRandom(seed: seed)
        scheduler = PlacedScheduler(policies: [:])
        startedAt = now.monotonic
        listensSince = now.monotonic
        advancedAt = now.monotonic
        graceEnds = now.monotonic
        nextTick = now.monotonic
    }

    /// Begins an epoch: from here on peers may ask to join. Live effects of an earlier epoch wait for claims first.
    mutating func begin(nonce: UInt64, at now: Moment) {
        self.now = now
        startedAt = now.monotonic
        listensSince = now.monotonic
        advancedAt = now.monotonic
        nextTick = now.monotonic
        let isFirst = core.epoch == .none
        let earlierAttempts = JournaledCore.allAttempts(of: core.epoch)
        let changes = write(.definition(core.ownDefinition))
        scheduler = PlacedScheduler(policies: core.table.policies)
        write(.epochBegun(Epoch(number: core.epoch.number + 1, nonce: nonce), now.wall))
        beganTime = core.time
        let open = Set(core.effects.lazy.filter { $0.value.status == .open }.map(\.key))
        // What has just started runs nowhere yet, and what has begun anew may no longer run where it did.
        let new = open.intersection(
            changes.compactMap { change in
                switch change.kind {
                case .started: change.effect
                case .updated where core.effects[change.effect]?.floor == earlierAttempts: change.effect
                case .updated, .cancelled: nil
                }
            })
        for id in (isFirst ? open : new).sorted() { schedule(id) }
        if !isFirst {
            awaitClaims(of: open.subtracting(new))
        }
        reviewSuspects()
        noticeOutcome()
    }

    /// Time has passed since the turn began: what is received from here on arrives at this moment.
    public mutating func passTime(to now: Moment) { self.now = Moment.max(self.now, now) }

    /// Takes notice of time: leases, timeouts, grace, ticks. Once in each turn, after everything that was received.
    mutating func advance() {
        let gap = now.monotonic - advancedAt
        advancedAt = now.monotonic
        // A reducer that stood still must not hold its own silence against its workers.
        if gap > configuration.silenceLimit / 2 { forgive(gap) }
        endGrace()
        endTimedOutAttempts()
        takeFromTheSilent()
        tickIfDue()
    }

    /// Ends the turn: grants what can be granted, and hands out records and messages.
    mutating func ready() -> Ready {
        noticeOutcome()
        hashState()
        if outcome == nil && loss == nil { grant() }
        flushCommands()
        flushAcknowledgements()
        // Who follows the state sees the last one, or that it is the same, however recent the one before.
        if hasNewOutcome {
            updates.announce(core.seq)
            updates.hurry()
        }
        publishUpdates()
        answerJoining()
        publishTransitions()
        // Behind everything else: the sender of the event that ended the loop learns that it was applied.
        if hasNewOutcome { announceEnd() }
        hasNewOutcome = false
        if loss != nil { withholdMessages() }
        poison.isAlone = false
        defer { beginNextTurn() }
        return Ready(
            records: records, position: core.position, deadline: deadline, outcome: outcome, historyLost: loss,
            released: Released(
                messages: messages, backgroundJobs: backgroundJobs, journalRequests: journalRequests,
                alarms: poison.alarms),
            survivors: poison.survivors)
    }

    /// What the turn has made is handed out.
    private mutating func beginNextTurn() {
        // The next turn's records are about as many.
        let room = min(records.bytes.count, 1 << 20)
        records = RecordLog()
        records.reserve(room)
        messages.removeAll(keepingCapacity: true)
        backgroundJobs = []
        journalRequests = []
        poison.alarms = []
        poison.survivors = []
    }

    /// The loop's end, once it has come.
    var end: Outcome? { outcome }

    /// How many peers are admitted, not counting one.
    func memberCount(besides peer: PeerID?) -> Int { members.values.count { $0.peer != peer } }

    var fingerprint: DefinitionFingerprint { core.loop.fingerprint }
    var history: History { core.history }
    public var epoch: Epoch { core.epoch }
    var seq: Seq { core.seq }

    /// Counts what the shell has seen.
    public mutating func count(_ counter: Counter, _ amount: UInt64 = 1) {
        if amount > 0 { counters[counter, default: 0] += amount }
    }

    /// Every change of the journaled state but an event goes through here: first the record, then its consequence.
    @discardableResult
    mutating func write(_ record: Record) -> [LiveChange] {
        records.append(record)
        do {
            return try core.apply(record)
        } catch {
            preconditionFailure("a record that this machine made cannot be applied: \(record): \(error)")
        }
    }

    func policy(of effect: EffectID) -> EffectPolicy { core.feedback(of: effect)?.policy ?? EffectPolicy() }

    func breaks(_ rule: Rule) -> Bool { brokenRules.contains(rule) }

    mutating func noticeOutcome() {
        guard outcome == nil, outcomeSeq != core.seq else { return }
        outcomeSeq = core.seq
        guard let outcome = core.fold.outcome else { return }
        self.outcome = outcome
        hasNewOutcome = true
        owners.removeAll()
        unclaimed.removeAll()
        for session in members.keys { members[session]?.holding = Holding() }
        // Who has claimed in this turn claims again, and is assigned nothing.
        messages.removeAll { message in
            guard case .reply(_, let frame) = message, case .assignments(let part) = frame.message else { return false }
            return !part.grants.isEmpty
        }
    }

    private var deadline: MonotonicTime {
        if hasDeferred { return now.monotonic }
        var earliest = nextTick
        // Behind the end nothing is granted.
        if outcome == nil, let time = scheduler.deadline(after: now.monotonic) { earliest = min(earliest, time) }
        if let time = timeouts.top?.time { earliest = min(earliest, time) }
        if !unclaimed.isEmpty { earliest = min(earliest, graceEnds) }
        if let time = updates.deadline(core.seq) { earliest = min(earliest, time) }
        for member in members.values where !member.holding.isEmpty && member.leaseEnds > now.monotonic {
            earliest = min(earliest, member.leaseEnds)
        }
        return earliest
    }
}
