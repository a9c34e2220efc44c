import CBOR
import LoopCluster
import LoopCore
import LoopKeys
import LoopCollections
import LoopWire

/// A reducer that waits for its journal. It listens at its own addresses and redirects peers to the leader.
///
///     binds ── another process has the journal ──▶ answers: redirect, or no leader ── the journal is free ──▶ leads
///
/// It shows no state and grants nothing.
final class Standby<Definition: LoopDefinition> {
    private let host: ReducerHost<Definition>
    /// The address that this reducer advertises, or nil if it is not known.
    private let own: String?
    private let log: NodeLog
    private let following: JournalFollowing<Definition>
    /// The time until which it leaves the journal to other processes, because an operator has requested that.
    private let leavesItUntil = Locked(MonotonicTime.zero)
    private var owner: JournalOwner?
    /// Peers that it has led, and that it redirects as soon as a leader is known.
    private var led: [PeerID]

    /// How long it waits for the sockets, in milliseconds.
    private static var waitMilliseconds: Int { 50 }

    /// Begins to follow the journal.
    /// - Parameters:
    ///   - warm: the state to follow from, or nil to begin with a snapshot.
    ///   - led: the peers that it has led.
    init(
        _ host: ReducerHost<Definition>, from warm: consuming WarmState?, led: [PeerID], _ log: NodeLog
    ) {
        self.host = host
        own = host.address
        self.led = led
        self.log = log
        following = JournalFollowing(
            host.definition, host.configuration, from: warm.take(), log: log, isStopping: host.isStopping)
    }

    /// Answers peers and follows the journal until this reducer has it.
    /// - Parameters:
    ///   - history: the history of the journal that this process had open, or nil if it had none.
    ///   - standsBackUntil: the time until which it leaves the journal to other processes, or nil to take it at once.
    /// - Throws: `JournalError`, or an error of the sockets.
    func journal(of history: History?, standsBackUntil: MonotonicTime?) throws -> any Journal {
        defer { following.end() }
        var opening = host.opening(waits: true, log)
        opening.standsBackUntil = standsBackUntil
        opening.leavesItUntil = { [leavesItUntil] in leavesItUntil.withLock { $0 } }
        opening.following = { [following] in following.report }
        opening.hears = { [following] in following.hear($0) }
        opening.expected = { [following] in following.report.firstHistory ?? history }
        let wait = try JournalWait(host.configuration.journal, opening)
        let item = host.sockets.watch(descriptor: wait.descriptor)
        defer { host.sockets.unwatch(item) }
        do {
            while true {
                if let journal = try wait.take() { return journal }
                try answer(wait.owner)
            }
        } catch {
            wait.giveUp()
            throw error
        }
    }

    /// Ends the following, and hands over its state, or nil if there is none from which a reducer could continue.
    func handOver() -> WarmState? { following.handOver() }

    /// How far it had followed when it found records lost, or nil if that never happened.
    var lost: FollowedEnd? { following.lost }

    /// Answers what has come, and waits a moment if nothing has.
    /// - Parameter owner: the process that has the journal now, or nil if that is not known yet.
    private func answer(_ owner: JournalOwner?) throws {
        if let owner {
            host.obstacle.note(owner)
            try notice(owner)
        }
        try host.sockets.wait(milliseconds: Self.waitMilliseconds)
        try host.answer(
            Unready(loop: Definition.name, .go(to: leader)), epoch: self.owner?.epoch ?? .none,
            report: { self.report(at: SystemClock.monotonic) }, order: standBack)
        // Batches belong to sessions that a leader has admitted. Their senders keep them until a leader answers.
        _ = try host.sockets.drainBatches(for: .milliseconds(5)) { _, _ in }
    }

    private func notice(_ new: JournalOwner) throws {
        let before = owner
        owner = new
        guard before.map({ $0.address != new.address || $0.epoch != new.epoch }) ?? true else { return }
        let leader = leader
        if let leader {
            let frame = PeerFrame(history: .none, epoch: new.epoch, session: .none, message: .redirect(leader))
            for peer in led { try host.sockets.publish(frame, toInboxOf: peer) }
            led = []
        }
        log.note(
            .standby,
            leader.map { "standing by: the leader is at \($0)" }
                ?? "standing by: no leader is known",
            leader.map { [.address($0)] } ?? [])
    }

    /// The leader's address as far as it is known, or nil if the text is not an address or is this reducer's own.
    private var leader: String? {
        guard let address = owner?.address, address != own, (try? ReducerAddress(parsing: address)) != nil else {
            return nil
        }
        return address
    }

    /// Leaves the journal to other processes for a while, if that is the request.
    private func standBack(_ number: UInt64, _ document: ArraySlice<UInt8>) throws -> ToPeer? {
        guard
            case .standBack(let milliseconds, let who)? = try? CBOR.decode(AdministrationRequest.self, from: document)
        else { return nil }
        let wait = Duration.milliseconds(min(milliseconds, 60_000))
        leavesItUntil.withLock { $0 = SystemClock.monotonic + wait }
        let what =
            wait > .zero ? "it leaves the journal to others for \(wait.text)" : "it leads again if the journal is free"
        log.note(.standby, "\(String(who.prefix(256))) has asked it to stand back: \(what)")
        return AnswerPart.parts(of: try CBOR.encode(AdministrationAnswer.done(what)), request: number).first
            .map { .answer($0) }
    }

    private func report(at now: MonotonicTime) -> StatusReport {
        let following = following.report
        var report = host.report
        report.role = StatusReport.standbyRole
        report.leader = leader
        report.notReadyBecause =
            "it is a standby, and " + (leader.map { "the leader is at \($0)" } ?? "knows no leader")
        if let (error, since) = host.obstacle.lasting {
            report.notReadyBecause = "it is a standby, and \(error)"
            report.journalFault = error.fault
            report.journalFaultMilliseconds = (now - since).wholeNanoseconds / 1_000_000
        } else if leader == nil, let holder = owner?.obstacle {
            report.notReadyBecause = "it is a standby, and knows no leader's address: \(holder.reason)"
            report.journalFault = holder.fault
        }
        report.uptimeMilliseconds = (now - SystemClock.processBegan).wholeNanoseconds / 1_000_000
        report.seq = following.seq.value
        report.history = following.presentHistory?.description ?? ""
        report.following = StatusReport.Following(
            position: following.position, lag: following.lag,
            lagMilliseconds: following.levelAt.map { (now - $0).wholeNanoseconds / 1_000_000 },
            coldBecause: following.coldBecause)
        return report
    }
}
