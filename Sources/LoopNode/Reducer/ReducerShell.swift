import CBOR
import Linux
import LoopCluster
import LoopCore
import LoopWire
import ZMQ

/// A reducer's thread. It takes one turn at a time: wait, drain, advance, persist, send. If the journal takes long, the next
/// turn begins before what depends on the last one is sent.
///
///     serving ── the journal fails ──▶ failed ── a try succeeds ──▶ serving
///        │                               │ answers status: not ready, and why
///        └── the loop ends, or stop ─────┴──▶ over
///
/// After a failed append or sync, neither the journal's descriptor nor the machine is used again, because the machine has made
/// messages that peers may never get. The next machine continues from this one's state if that contains the journal's records.
/// Otherwise it is rebuilt from the journal.
struct ReducerShell<Definition: LoopDefinition>: ~Copyable {
    private let definition: Definition
    private let configuration: ReducerNodeConfiguration
    private let mailbox: Mailbox<ReducerMail>
    private let isStopping: @Sendable () -> Bool
    private let log: NodeLog
    private let holder: SocketHolder
    private let mailItem: PollSet.Item
    /// The keys, or nil if the reducer has none.
    private let ring: KeyRing?
    /// Watches the folder of keys as long as the reducer runs.
    private let keyWatch: KeyWatch?
    private let lookout: Lookout?
    private var localItem: PollSet.Item?
    /// Nil while the journal has failed.
    private var service: ReducerService<Definition>?
    private var failure: JournalFailure?
    private let obstacle: JournalObstacle
    /// The state of a machine whose journal has failed. It may be ahead of the journal.
    private var kept: WarmState?
    /// The file outlives the machine, which writes into it.
    private let crashNote: CrashNoteFile?
    private let note: CrashNote?
    /// The records that had vanished when it began to lead, in this term or an earlier one, or nil if none had.
    private var vanished: VanishedRecords?
    /// How far this process had followed the journal when it found records lost, until that is compared with a journal that it
    /// leads.
    private var lost: FollowedEnd?
    private var hadCrash: Bool
    /// The history of the journal that it opened last. It opens no journal of another history.
    private var history: History?
    private var mail: [ReducerMail] = []

    /// Opens the journal and the sockets, and recovers.
    /// - Parameter isStopping: whether the node was stopped. The mailbox says so too, but is read only between turns.
    /// - Throws: `RecoveryError.stopped` if that happened before the node could serve.
    static func start(
        _ definition: Definition, configuration: ReducerNodeConfiguration, mailbox: Mailbox<ReducerMail>,
        isStopping: @escaping @Sendable () -> Bool
    ) throws -> ReducerShell {
        let log = NodeLog(name: "reducer \(Definition.name)", configuration.log)
        let obstacle = JournalObstacle(log)
        _ = SystemClock.processBegan
        if isStopping() { throw RecoveryError.stopped }
        // Open the journal first, so that a waiting reducer does not occupy the ports. A standby needs its ports while it waits.
        let opened =
            configuration.succession == .standby ? nil : try Self.open(configuration, log, obstacle, isStopping)
        let ring = try configuration.keys.map { folder throws(NodeError) in try KeyRing(folder) }
        let holder = SocketHolder(try Self.listen(definition, configuration, ring, log))
        let keyWatch = try ring.map { ring throws(NodeError) in
            try KeyWatch(ring) { change in mailbox.post(.keysChanged(change)) }
        }
        let lookout = try lookout(configuration, bound: holder.sockets.bound, ring, log)
        let gained: Gained
        if let opened {
            gained = Gained(journal: opened)
        } else {
            configuration.onListening(holder.sockets.bound)
            gained = try Self.standBy(definition, holder, configuration, ring, log, obstacle, isStopping)
        }
        let mailItem = holder.sockets.watch(descriptor: mailbox.descriptor)
        var hadCrash = false
        let file = try crashNote(beside: gained.journal, configuration, log, hadCrash: &hadCrash)
        let note: CrashNote? =
            switch file {
            case .some(let file): file.note
            case .none: nil
            }
        var shell = ReducerShell(
            definition: definition, configuration: configuration, mailbox: mailbox, isStopping: isStopping, log: log,
            obstacle: obstacle, holder: holder, mailItem: mailItem, ring: ring, keyWatch: keyWatch, lookout: lookout,
            crashNote: file, note: note, hadCrash: hadCrash)
        do {
            try shell.serve(gained)
            obstacle.clear()
        } catch let error as JournalError
            where error.kind.mayPass && configuration.succession != .refuse
        {
            // After any failed append, the journal is read again as soon as it responds.
            try shell.fail(error)
        }
        if configuration.succession != .standby { configuration.onListening(holder.sockets.bound) }
        return shell
    }

    private init(
        definition: Definition, configuration: ReducerNodeConfiguration, mailbox: Mailbox<ReducerMail>,
        isStopping: @escaping @Sendable () -> Bool, log: NodeLog, obstacle: JournalObstacle, holder: SocketHolder,
        mailItem: PollSet.Item, ring: KeyRing?, keyWatch: KeyWatch?, lookout: Lookout?,
        crashNote: consuming CrashNoteFile?, note: CrashNote?, hadCrash: Bool
    ) {
        self.definition = definition
        self.configuration = configuration
        self.mailbox = mailbox
        self.isStopping = isStopping
        self.log = log
        self.obstacle = obstacle
        self.holder = holder
        self.mailItem = mailItem
        self.ring = ring
        self.keyWatch = keyWatch
        self.lookout = lookout
        self.crashNote = crashNote
        self.note = note
        self.hadCrash = hadCrash
    }

    /// Runs until the loop ends or the node is stopped.
    /// - Throws: `NodeKilled`, or the error that ends it.
    mutating func run() throws -> Outcome? {
        do {
            return try live()
        } catch let killed as NodeKilled {
            service?.die()
            throw killed
        }
    }

    private mutating func live() throws -> Outcome? {
        var deadline = MonotonicTime.zero
        var isBusy = false
        var endsAt: MonotonicTime?
        while true {
            try holder.sockets.wait(
                milliseconds: isBusy ? 0 : SystemClock.milliseconds(from: SystemClock.monotonic, until: deadline))
            try configuration.killSwitch?.check()
            // A verdict that was reached is delivered, even if a stop cuts the shutdown grace period short.
            if try takeMail() { return try end(with: service?.machine.end) }
            guard let turn = try turn() else {
                deadline = failure?.retryAt ?? .zero
                isBusy = false
                continue
            }
            deadline = turn.deadline
            isBusy = turn.hasWork
            guard let outcome = turn.outcome else { continue }
            let now = SystemClock.monotonic
            let ends = endsAt ?? now + configuration.shutdownGracePeriod
            endsAt = ends
            if now >= ends || service?.machine.memberCount(besides: service?.local?.peer) == 0 {
                return try end(with: outcome)
            }
            deadline = min(deadline, ends)
        }
    }

    /// Continues without records that peers know of. Throws if the journal had promised to keep them.
    private mutating func goOn(without lost: HistoryLost) throws {
        guard let journal = service?.journal, configuration.durability != .fsync || journal.snapshotWriter == nil else {
            let place = configuration.journal.name(Definition.name).shellWord
            let seq = service?.machine.seq.value ?? 0
            throw NodeError.damaged("\(lost); \(HistoryLost.remedy(loop: Definition.name, seq: seq, place: place))")
        }
        service?.goOn(without: lost)
    }

    /// - Returns: the turn's end, or nil while the journal has failed.
    private mutating func turn() throws -> TurnEnd? {
        let end: TurnEnd?
        do {
            end = try service?.turn(&holder.sockets)
            if let lost = end?.historyLost { try goOn(without: lost) }
            if let request = service?.stepDownRequest {
                try stepDown(request)
                return nil
            }
        } catch let error as JournalError {
            try fail(error)
            return nil
        }
        if end == nil {
            try answerWhileFailed()
            try recoverIfDue()
        }
        return end
    }

    private mutating func end(with outcome: Outcome?) throws -> Outcome? {
        if let outcome {
            // Deliver first, then mark: a reducer that is killed in between delivers it again.
            try configuration.onOutcome?(outcome)
            try service?.markEnded()
        }
        do {
            try service?.settle(&holder.sockets)
        } catch let error as JournalError {
            log.note(.journalFailed, "the last turns have no receipt: \(error)", [.reason("\(error)")])
        }
        service?.finish()
        log.tellLeftOut(at: nil)
        return outcome
    }

    /// - Returns: whether the node was stopped.
    private mutating func takeMail() throws -> Bool {
        guard holder.sockets.isReadable(mailItem) else { return false }
        mailbox.takeAll(into: &mail)
        defer { mail.removeAll() }
        for letter in mail {
            switch letter {
            case .stop: return true
            case .keysChanged(let change): try admit(change)
            case .answer(let request, let answer): service?.answer(answer, to: request)
            case .jobDone(let result): service?.receive(result)
            case .snapshotWritten(let result, let opening):
                do {
                    try service?.snapshotWritten(result, opening: opening)
                } catch let error as JournalError {
                    try fail(error)
                }
            }
        }
        return false
    }

    // MARK: Keys

    /// Applies a change of the folder of keys. By then no removed key is admitted any more.
    private mutating func admit(_ change: KeyRing.Change) throws {
        for note in change.notes { log.note(.keysChanged, note) }
        service?.admit(change.allowed)
        // The end of a connection also ends what its key follows. A key whose role was reduced must lose that, and one whose role
        // was extended connects again.
        holder.sockets.endConnections(of: Set((change.keys.removed + change.keys.changed).map(\.publicKey)))
        guard let servers = change.servers else { return }
        do {
            try holder.sockets.open(servers)
        } catch {
            log.note(
                .keysChanged, "the reducer's own keys could not be changed: \(error)", [.reason("\(error)")],
                level: .error)
        }
    }

    // MARK: The journal

    private mutating func serve(_ gained: Gained, log: NodeLog? = nil) throws {
        let log = log ?? self.log
        var journal = gained.journal
        // A copy is kept until the machine has the state, in case the journal fails again.
        kept = gained.warm
        // Kept, too, until it is compared.
        lost = gained.lost ?? lost
        let mailbox = mailbox
        do {
            var service = try ReducerService(
                definition, configuration: configuration, journal: journal, listeners: gained.listeners,
                warm: gained.warm.take(), advertised: configuration.address(bound: holder.sockets.bound), note: note,
                decodesAhead: !hadCrash, addresses: (holder.sockets.publisherAddress, holder.sockets.collectorAddress),
                keys: ring?.allowed, lookout: lookout, log: log, obstacle: obstacle,
                isStopping: Self.whileRecovering(journal, holder, ring, isStopping), post: { mailbox.post($0) })
            vanished = try service.compare([kept?.followed, lost]) ?? vanished
            lost = nil
            service.vanished = vanished
            if let item = localItem { holder.sockets.unwatch(item) }
            localItem = nil
            if let local = service.local { localItem = holder.sockets.watch(descriptor: local.descriptor) }
            let machine = service.machine
            log.note(
                .listening, "listening at \(holder.sockets.bound), history \(machine.history), epoch \(machine.epoch)",
                [
                    .address("\(holder.sockets.bound)"), .history("\(machine.history)"), .epoch(machine.epoch.number),
                    .seq(machine.seq),
                ])
            self.service = service
            kept = nil
            history = journal.history
        } catch {
            defer { journal.close() }
            throw journal.proven(error)
        }
    }

    /// Lets another reducer lead, and then stands by. Everything that was appended is durable, and nothing more is taken.
    private mutating func stepDown(_ request: JournalRequest) throws {
        let left = Left()
        left.history = history
        try letGo(left, request)
        let gained = try Self.waitForJournal(definition, holder, configuration, ring, log, obstacle, left, isStopping)
        try renewNote(gained.journal)
        try serve(gained)
        obstacle.clear()
    }

    private mutating func letGo(_ left: Left, _ request: JournalRequest) throws {
        guard case .stepDown(let takesSnapshot, let who) = request.question, var service = service.take() else {
            return
        }
        let (seq, epoch) = (service.machine.seq, service.machine.epoch)
        left.peers = service.machine.memberPeers
        left.warm = service.stepDown(takesSnapshot: takesSnapshot)
        left.standsBackUntil = SystemClock.monotonic + max(configuration.journalLease * 3, .seconds(3))
        forgetService()
        log.note(
            .standby, "\(who) has asked it to step down: it has led until seq \(seq), in epoch \(epoch)", [.seq(seq)])
        try answer(.done("it has let go of the journal at seq \(seq), in epoch \(epoch.number)"), to: request)
    }

    private func answer(_ answer: AdministrationAnswer, to request: JournalRequest) throws {
        guard case .router(let id) = request.route else { return }
        for part in AnswerPart.parts(of: try CBOR.encode(answer), request: request.number) {
            try holder.sockets.reply(
                PeerFrame(history: .none, epoch: .none, session: .none, message: .answer(part)), to: id)
        }
    }

    /// Reads the crash note again, because another process may have written it meanwhile.
    private mutating func renewNote(_ journal: any Journal) throws {
        switch crashNote {
        case .some(let file):
            guard let line = try file.begin(history: journal.history) else { return }
            hadCrash = true
            log.note(.crashed, line, [.reason(line)])
        case .none: break
        }
    }

    private mutating func forgetService() {
        holder.sockets.watch(journal: nil)
        if let item = localItem { holder.sockets.unwatch(item) }
        localItem = nil
        service = nil
    }

    /// Gives up the service. Nothing that depended on the failed records has left or will leave.
    private mutating func fail(_ found: JournalError) throws {
        guard let error = (service?.proven(found) ?? found) as? JournalError, error.kind.mayPass else {
            _ = service?.abandon()
            throw NodeError(found)
        }
        if let warm = service?.abandon() { kept = warm }
        forgetService()
        let tries = failure.map { $0.tries + 1 } ?? 1
        let delay = min(Duration.milliseconds(250 << min(tries, 4)), .seconds(4))
        let now = SystemClock.monotonic
        if !isStopping() { obstacle.note(error, at: now) }
        failure = JournalFailure(
            error: error, since: failure?.since ?? obstacle.lasting?.since ?? now, tries: tries, retryAt: now + delay)
    }

    private mutating func recoverIfDue() throws {
        guard let failure, SystemClock.monotonic >= failure.retryAt else { return }
        do {
            // The notices of each try would be repeated as long as the fault lasts.
            let quiet = log.leavingOut(below: .warning)
            try serve(try openAgain(quiet), log: quiet)
            // The epoch's first records show whether the journal can be written.
            _ = try service?.turn(&holder.sockets)
            guard let machine = service?.machine else { return }
            service?.log = log
            if let recovered = service?.recovered { log.note(.recovered, recovered) }
            let duration = SystemClock.monotonic - failure.since
            obstacle.clear()
            log.note(
                .journalRestored,
                "the journal can be written again, after \(duration.text): seq \(machine.seq), epoch"
                    + " \(machine.epoch)",
                [.duration(duration), .seq(machine.seq), .epoch(machine.epoch.number)])
            self.failure = nil
        } catch let error as JournalError {
            try fail(error)
        }
    }

    /// Opens the journal again. A standby that has lost it to another process stands by again.
    private mutating func openAgain(_ log: NodeLog) throws -> Gained {
        guard configuration.succession == .standby else { return Gained(journal: try openAgainAlone(log), warm: kept) }
        let left = Left()
        left.history = history
        left.warm = kept.take()
        defer { kept = left.warm.take() }
        let gained = try Self.waitForJournal(
            definition, holder, configuration, ring, log, obstacle, left, isStopping)
        try renewNote(gained.journal)
        return gained
    }

    /// Opens the journal on a separate thread, and answers peers meanwhile, because a database may be slow.
    private mutating func openAgainAlone(_ log: NodeLog) throws -> any Journal {
        let address = configuration.address(bound: holder.sockets.bound)
        var opening = Self.opening(configuration, waits: false, address: address, log, isStopping)
        opening.expected = { [history] in history }
        let wait = try JournalWait(configuration.journal, opening)
        let item = holder.sockets.watch(descriptor: wait.descriptor)
        defer { holder.sockets.unwatch(item) }
        while true {
            if let journal = try wait.take() { return journal }
            if isStopping() {
                wait.giveUp()
                throw RecoveryError.stopped
            }
            try holder.sockets.wait(milliseconds: 50)
            if let owner = wait.owner { note(owner) }
            try answerWhileFailed()
        }
    }

    /// Notes what the opening of the journal waits for. The reason may differ from the one that ended the service.
    private mutating func note(_ owner: JournalOwner) {
        guard let failure else { return }
        obstacle.note(owner)
        var error = owner.obstacle ?? failure.error
        if owner.obstacle == nil, error.fault.reason.endsWithAnswer {
            error = JournalError(
                .unreachable, operation: "be used yet", reason: "its database answers, and it is being opened",
                remedy: "wait", fault: JournalFault(.recovering))
        }
        self.failure = JournalFailure(
            error: error, since: failure.since, tries: failure.tries, retryAt: failure.retryAt)
    }

    private func answerWhileFailed() throws {
        if let failure { try Self.answer(failure, holder, ring) }
    }
}
