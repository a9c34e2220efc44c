import CBOR
import Glibc
import LoopCluster
import LoopCore
import LoopJournal
import LoopWire
import ZMQ

/// A reducer's thread. It takes one turn at a time: wait, drain, advance, persist, send. If the journal takes long, the next
/// turn begins before what depends on the last one is sent.
///
///     waiting ── it has the journal ──▶ leading ── the journal fails ──▶ failed
///        ▲                               │    ▲                            │  answers status: not ready, and why
///        └─ it steps down, as requested ─┘    └─────── a try succeeds ─────┘
///
/// A standby answers peers while it waits, and waits again at each try after a failure. The run ends with the loop, or when the
/// node is stopped.
///
/// After a failed append or sync, neither the journal's descriptor nor the machine is used again, because the machine has made
/// messages that peers may never get. The next machine continues from this one's state if that contains the journal's records.
/// Otherwise it is rebuilt from the journal.
struct ReducerShell<Definition: LoopDefinition>: ~Copyable {
    /// What it does at present.
    private enum Role {
        /// It waits for its journal, and reads no mail. A standby also does so after it has led.
        case waiting
        case leading(ReducerService<Definition>)
        case failed(JournalFailure)
    }

    private let host: ReducerHost<Definition>
    private var role = Role.waiting
    private var mailItem: PollSet.Item?
    private var localItem: PollSet.Item?
    /// The state of a machine that has ended, or that a standby has followed. It may be ahead of the journal.
    private var kept: WarmState?
    /// The file outlives the machine, which writes into it. Nil if the journal is not a file.
    private var crashNote: CrashNoteFile?
    /// The note if the journal is not a file, and the node has metrics. It ends with the process.
    private var transientNote: CrashNote?
    /// The records that had vanished when it began to lead, in this term or an earlier one, or nil if none had.
    private var vanished: VanishedRecords?
    /// How far this process had followed the journal when it found records lost, until that is compared with a journal that it
    /// leads.
    private var lost: FollowedEnd?
    private var hadCrash = false
    /// The history of the journal that it opened last. It opens no journal of another history.
    private var history: History?
    private var mail: [ReducerMail] = []

    private init(_ host: ReducerHost<Definition>) { self.host = host }

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
            configuration.succession == .standby ? nil : try open(configuration, log, obstacle, isStopping)
        let patience = configuration.succession == .wait ? addressesPatience : .zero
        let end = SystemClock.monotonic + patience
        while true {
            do {
                let host = try ReducerHost(
                    definition, configuration, mailbox: mailbox, log: log, obstacle: obstacle, isStopping: isStopping)
                var shell = ReducerShell(host)
                try shell.begin(opened)
                return shell
            } catch let error as ZMQError where error.isAddressInUse && SystemClock.monotonic < end && !isStopping() {
                // Nothing tells when another process leaves an address.
                usleep(20_000)
            }
        }
    }

    /// How long a reducer that has waited for its journal waits for its addresses. The process that had both leaves the journal
    /// first.
    private static var addressesPatience: Duration { .seconds(5) }

    private static func open(
        _ configuration: ReducerNodeConfiguration, _ log: NodeLog, _ obstacle: JournalObstacle,
        _ isStopping: @escaping @Sendable () -> Bool
    ) throws -> any Journal {
        var opening = configuration.opening(
            of: Definition.name, waits: configuration.succession == .wait, address: configuration.address(), log,
            isStopping)
        opening.waitsForFile = true
        opening.whileWaiting = { owner in
            obstacle.note(owner)
            return true
        }
        do {
            let journal = try configuration.journal.open(opening)
            obstacle.clear()
            return journal
        } catch {
            if error.kind.mayPass, isStopping() { throw RecoveryError.stopped }
            throw NodeError(error)
        }
    }

    /// Leads for the first time.
    /// - Parameter opened: the journal, or nil if the reducer is a standby, which has to wait for it.
    private mutating func begin(_ opened: (any Journal)?) throws {
        let configuration = host.configuration
        if opened == nil { configuration.onListening(host.sockets.bound) }
        let first = try opened ?? standByFirst()
        try readNote(beside: first)
        do {
            try lead(first, host.log)
            host.obstacle.clear()
        } catch let error as JournalError where error.kind.mayPass && configuration.succession != .refuse {
            // After any failed append, the journal is read again as soon as it responds.
            try fail(error)
        }
        if opened != nil { configuration.onListening(host.sockets.bound) }
    }

    /// Runs until the loop ends or the node is stopped.
    /// - Throws: `NodeKilled`, or the error that ends it.
    mutating func run() throws -> Outcome? {
        do {
            return try live()
        } catch let killed as NodeKilled {
            leader?.die()
            throw killed
        }
    }

    private mutating func live() throws -> Outcome? {
        var deadline = MonotonicTime.zero
        var isBusy = false
        var endsAt: MonotonicTime?
        while true {
            try host.sockets.wait(
                milliseconds: isBusy ? 0 : SystemClock.milliseconds(from: SystemClock.monotonic, until: deadline))
            try host.configuration.killSwitch?.check()
            // A verdict that was reached is delivered, even if a stop cuts the shutdown grace period short.
            if try takeMail() { return try end(with: leader?.machine.end) }
            guard let turn = try turn() else {
                deadline = if case .failed(let failure) = role { failure.retryAt } else { .zero }
                isBusy = false
                continue
            }
            deadline = turn.deadline
            isBusy = turn.hasWork
            guard let outcome = turn.outcome else { continue }
            let now = SystemClock.monotonic
            if endsAt == nil { host.configuration.serviceManager?.tellStopping() }
            let ends = endsAt ?? now + host.configuration.shutdownGracePeriod
            endsAt = ends
            if now >= ends || leader?.machine.memberCount(besides: leader?.local?.peer) == 0 {
                return try end(with: outcome)
            }
            deadline = min(deadline, ends)
        }
    }

    /// Continues without records that peers know of. Throws if the journal had promised to keep them.
    private mutating func goOn(without lost: HistoryLost) throws {
        let configuration = host.configuration
        guard let journal = leader?.journal, configuration.durability != .fsync || journal.snapshotWriter == nil else {
            let place = configuration.journal.name(Definition.name).shellWord
            let seq = leader?.machine.seq.value ?? 0
            throw NodeError.damaged("\(lost); \(HistoryLost.remedy(loop: Definition.name, seq: seq, place: place))")
        }
        leader?.goOn(without: lost)
    }

    /// - Returns: the turn's end, or nil if it does not lead, or did not until now.
    private mutating func turn() throws -> TurnEnd? {
        if case .failed(let failure) = role {
            try answer(failure)
            try leadAgain(after: failure)
            return nil
        }
        do {
            let end = try leader?.turn(&host.sockets)
            if let lost = end?.historyLost { try goOn(without: lost) }
            if let request = leader?.stepDownRequest {
                try stepDown(request)
                return nil
            }
            return end
        } catch let error as JournalError {
            try fail(error)
            return nil
        }
    }

    private mutating func end(with outcome: Outcome?) throws -> Outcome? {
        if let outcome {
            // Deliver first, then mark: a reducer that is killed in between delivers it again.
            try host.configuration.onOutcome?(outcome)
            try leader?.markEnded()
        }
        do {
            try leader?.settle(&host.sockets)
        } catch let error as JournalError {
            host.log.note(.journalFailed, "the last turns have no receipt: \(error)", [.reason("\(error)")])
        }
        leader?.finish()
        host.log.tellLeftOut(at: nil)
        return outcome
    }

    /// - Returns: whether the node was stopped.
    private mutating func takeMail() throws -> Bool {
        guard let mailItem, host.sockets.isReadable(mailItem) else { return false }
        host.mailbox.takeAll(into: &mail)
        defer { mail.removeAll() }
        for item in mail {
            switch item {
            case .stop: return true
            case .keysChanged(let change): try admit(change)
            case .letter(let letter): leader?.receive(letter)
            case .snapshotWritten(let result, let opening):
                do {
                    try leader?.snapshotWritten(result, opening: opening)
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
        for note in change.notes { host.log.note(.keysChanged, note) }
        leader?.admit(change.allowed)
        // The end of a connection also ends what its key follows. A key whose role was reduced must lose that, and one whose role
        // was extended connects again.
        host.sockets.endConnections(of: Set((change.keys.removed + change.keys.changed).map(\.publicKey)))
        guard let servers = change.servers else { return }
        do {
            try host.sockets.open(servers)
        } catch {
            host.log.note(
                .keysChanged, "the reducer's own keys could not be changed: \(error)", [.reason("\(error)")],
                level: .error)
        }
    }

    // MARK: Roles

    private var leader: ReducerService<Definition>? {
        if case .leading(let service) = role { service } else { nil }
    }

    /// Changes the role. The sockets then watch what the new role needs.
    private mutating func become(_ new: Role) {
        if case .leading = role {
            host.sockets.watch(journal: nil)
            if let item = localItem.take() { host.sockets.unwatch(item) }
        }
        role = new
        switch new {
        case .waiting:
            if let item = mailItem.take() { host.sockets.unwatch(item) }
        case .leading(let service):
            mailItem = mailItem ?? host.sockets.watch(descriptor: host.mailbox.descriptor)
            if let local = service.local { localItem = host.sockets.watch(descriptor: local.descriptor) }
        case .failed: mailItem = mailItem ?? host.sockets.watch(descriptor: host.mailbox.descriptor)
        }
    }

    /// Begins to lead with a journal, from the state that was kept.
    private mutating func lead(_ gained: any Journal, _ log: NodeLog) throws {
        var journal = gained
        do {
            // A copy of the state is kept until the machine has it, in case the journal fails again.
            let service = try ReducerService(
                host, journal, warm: kept, note: note, decodesAhead: !hadCrash, log: log)
            vanished = try service.compare([kept?.followed, lost]) ?? vanished
            lost = nil
            service.vanished = vanished
            become(.leading(service))
            host.meter?.note { $0.epochsCount += 1 }
            let (bound, history, epoch) = (host.sockets.bound, service.machine.history, service.machine.epoch)
            log.note(
                .listening, "listening at \(bound), history \(history), epoch \(epoch)",
                [.address("\(bound)"), .history("\(history)"), .epoch(epoch.number), .seq(service.machine.seq)])
            kept = nil
            self.history = journal.history
        } catch {
            defer { journal.close() }
            throw journal.proven(error)
        }
    }

    /// Stands by until this reducer has the journal.
    /// - Parameters:
    ///   - led: the peers that it has led.
    ///   - standsBackUntil: the time until which it leaves the journal to other processes, or nil to take it at once.
    private mutating func standBy(
        led: [PeerID] = [], standsBackUntil: MonotonicTime? = nil, _ log: NodeLog
    ) throws -> any Journal {
        become(.waiting)
        let standby = Standby(host, from: kept.take(), led: led, log)
        let journal: any Journal
        do {
            journal = try standby.journal(of: history, standsBackUntil: standsBackUntil)
        } catch {
            kept = standby.handOver()
            throw error
        }
        kept = standby.handOver()
        lost = standby.lost ?? lost
        return journal
    }

    /// Stands by before the reducer has ever led.
    /// - Throws: `RecoveryError.stopped` if it was stopped meanwhile.
    private mutating func standByFirst() throws -> any Journal {
        if host.address == nil {
            let bind = host.configuration.bind
            host.log.note(
                .standby,
                "no other machine can dial \(bind): peers and other standbys are not told where this reducer is (--advertise)",
                [.address("\(bind)")], level: .warning)
        }
        do {
            return try standBy(host.log)
        } catch let error as JournalError {
            if error.kind.mayPass, host.isStopping() { throw RecoveryError.stopped }
            throw NodeError(error)
        }
    }

    /// Lets another reducer lead, and then stands by. Everything that was appended is durable, and nothing more is taken.
    private mutating func stepDown(_ request: JournalRequest) throws {
        guard let (led, standsBackUntil) = try letGo(request) else { return }
        let gained = try standBy(led: led, standsBackUntil: standsBackUntil, host.log)
        try readNote(beside: gained)
        try lead(gained, host.log)
        host.obstacle.clear()
    }

    /// - Returns: the peers that it has led, and the time until which it leaves the journal to other processes.
    private mutating func letGo(
        _ request: JournalRequest
    ) throws -> (led: [PeerID], standsBackUntil: MonotonicTime)? {
        guard case .stepDown(let takesSnapshot, let who) = request.question, let leader else { return nil }
        let (seq, epoch, led) = (leader.machine.seq, leader.machine.epoch, leader.machine.memberPeers)
        kept = leader.stepDown(takesSnapshot: takesSnapshot)
        let standsBackUntil = SystemClock.monotonic + max(host.configuration.journalLease * 3, .seconds(3))
        become(.waiting)
        host.log.note(
            .standby, "\(who) has asked it to step down: it has led until seq \(seq), in epoch \(epoch)", [.seq(seq)])
        try answer(.done("it has let go of the journal at seq \(seq), in epoch \(epoch.number)"), to: request)
        return (led, standsBackUntil)
    }

    private func answer(_ answer: AdministrationAnswer, to request: JournalRequest) throws {
        guard case .router(let id) = request.route else { return }
        for part in AnswerPart.parts(of: try CBOR.encode(answer), request: request.number) {
            try host.sockets.reply(
                PeerFrame(history: .none, epoch: .none, session: .none, message: .answer(part)), to: id)
        }
    }

    /// Gives up the lead. Nothing that depended on the failed records has left or will leave.
    /// - Parameter earlier: the failure after which it has tried to lead again, or nil if it has led.
    private mutating func fail(_ found: JournalError, after earlier: JournalFailure? = nil) throws {
        guard let error = (leader?.proven(found) ?? found) as? JournalError, error.kind.mayPass else {
            _ = leader?.abandon()
            throw NodeError(found)
        }
        if let warm = leader?.abandon() { kept = warm }
        host.meter?.note { $0.appendFailures[error.fault.reason.rawValue, default: 0] += 1 }
        let tries = earlier.map { $0.tries + 1 } ?? 1
        let delay = min(Duration.milliseconds(250 << min(tries, 4)), .seconds(4))
        let now = SystemClock.monotonic
        if !host.isStopping() { host.obstacle.note(error, at: now) }
        let since = earlier?.since ?? host.obstacle.lasting?.since ?? now
        become(.failed(JournalFailure(error: error, since: since, tries: tries, retryAt: now + delay)))
    }

    /// Tries to lead again if it is time.
    private mutating func leadAgain(after failure: JournalFailure) throws {
        guard SystemClock.monotonic >= failure.retryAt else { return }
        do {
            // The notices of each try would be repeated as long as the fault lasts.
            let quiet = host.log.leavingOut(below: .warning)
            try lead(try gainAgain(quiet), quiet)
            // The epoch's first records show whether the journal can be written.
            _ = try leader?.turn(&host.sockets)
            guard let leader else { return }
            leader.log = host.log
            if let recovered = leader.recovered { host.log.note(.recovered, recovered) }
            let (seq, epoch) = (leader.machine.seq, leader.machine.epoch)
            // A standby may have followed the journal without a fault meanwhile.
            let lasting = host.obstacle.clear()
            let since = host.configuration.succession == .standby ? lasting : failure.since
            let duration = since.map { SystemClock.monotonic - $0 }
            host.log.note(
                .journalRestored,
                "the journal can be written again\(duration.map { ", after \($0.text)" } ?? ""): seq \(seq), epoch \(epoch)",
                [.seq(seq), .epoch(epoch.number)] + (duration.map { [.duration($0)] } ?? []))
        } catch let error as JournalError {
            try fail(error, after: failure)
        }
    }

    /// Opens the journal again. A standby that has lost it to another process stands by again.
    private mutating func gainAgain(_ log: NodeLog) throws -> any Journal {
        guard host.configuration.succession == .standby else { return try openAgain(log) }
        let gained = try standBy(log)
        try readNote(beside: gained)
        return gained
    }

    // MARK: The journal

    /// Opens the journal on a separate thread, and answers peers meanwhile, because a database may be slow.
    private mutating func openAgain(_ log: NodeLog) throws -> any Journal {
        var opening = host.opening(waits: false, log)
        opening.expected = { [history] in history }
        let wait = try JournalWait(host.configuration.journal, opening)
        let item = host.sockets.watch(descriptor: wait.descriptor)
        defer { host.sockets.unwatch(item) }
        while true {
            if let journal = try wait.take() { return journal }
            if host.isStopping() {
                wait.giveUp()
                throw RecoveryError.stopped
            }
            try host.sockets.wait(milliseconds: 50)
            guard case .failed(var failure) = role else { continue }
            if let owner = wait.owner {
                host.obstacle.note(owner)
                failure.note(owner)
                role = .failed(failure)
            }
            try answer(failure)
        }
    }

    private func answer(_ failure: JournalFailure) throws {
        var report = host.report
        if let kept { report.note(kept.seq, kept.journaled.history, kept.journaled.epoch) }
        try host.answer(
            Unready(loop: Definition.name, .stay(because: "\(failure.error)")),
            report: { report.unready(because: failure.error, since: failure.since) })
    }

    private var note: CrashNote? {
        switch crashNote {
        case .some(let file): file.note
        case .none: transientNote
        }
    }

    /// Reads the crash note of the last process that had the journal.
    private mutating func readNote(beside journal: any Journal) throws {
        if note == nil, let path = host.configuration.journal.path(Definition.name) {
            crashNote = try CrashNoteFile(path: SQLiteJournal.crashNote(of: path), watch: host.stepWatch)
        } else if note == nil, let watch = host.stepWatch {
            let note = CrashNote()
            watch.show(note)
            transientNote = note
        }
        let line: String? =
            switch crashNote {
            case .some(let file): try file.begin(history: journal.history)
            case .none: nil
            }
        guard let line else { return }
        hadCrash = true
        host.log.note(.crashed, line, [.reason(line)])
        // The line must be written before this process can end in the same event.
        StandardError.flush(within: .milliseconds(100))
    }
}
