import CBOR
import LoopCluster
import LoopCore
import LoopKeys
import LoopLock
import LoopWire

/// The sockets of a reducer, which a standby and the shell use in turn. One thread uses them.
final class SocketHolder {
    var sockets: ReducerSockets

    init(_ sockets: consuming ReducerSockets) { self.sockets = sockets }
}

/// A reducer that waits for its journal. It listens at its own addresses and redirects peers to the leader.
///
///     binds ── another process has the journal ──▶ answers: redirect, or no leader ── the journal is free ──▶ leads
///
/// It shows no state and grants nothing. What it learns of its listeners is for the machine with which it begins to lead.
final class Standby {
    /// The peers and streams that have got a listener while it waited.
    struct Listeners {
        /// The peers whose inboxes have a listener.
        var inboxes: Set<PeerID> = []
        /// The streams of updates that have a follower.
        var streams: [UpdateStream] = []

        /// How many inboxes are kept. A peer beyond that learns by itself that it has to join.
        static let inboxesMax = 16_384
    }

    private let holder: SocketHolder
    private let loop: String
    private let schema: UInt64
    /// The keys, or nil if the reducer has none.
    private let ring: KeyRing?
    /// The address that this reducer advertises, or nil if it is not known.
    let own: String?
    private let log: NodeLog
    /// How far it follows the journal.
    private let following: () -> FollowingReport
    /// Why the journal cannot be used at the moment, if so.
    private let obstacle: JournalObstacle
    /// The time until which it leaves the journal to other processes, because an operator has requested that.
    private let leavesItUntil: Locked<MonotonicTime>
    private var owner: JournalOwner?
    /// Peers that it has led, and that it redirects as soon as a leader is known.
    private var led: [PeerID]
    private(set) var listeners = Listeners()

    /// How long it waits for the sockets, in milliseconds.
    private static let waitMilliseconds = 50

    init(
        _ holder: SocketHolder, loop: String, schema: UInt64, ring: KeyRing?, own: String?, led: [PeerID],
        log: NodeLog, obstacle: JournalObstacle, leavesItUntil: Locked<MonotonicTime>,
        following: @escaping () -> FollowingReport
    ) {
        self.holder = holder
        self.loop = loop
        self.schema = schema
        self.ring = ring
        self.own = own
        self.led = led
        self.log = log
        self.following = following
        self.obstacle = obstacle
        self.leavesItUntil = leavesItUntil
    }

    /// Answers what has come, and waits a moment if nothing has.
    /// - Parameter owner: the process that has the journal now, or nil if that is not known yet.
    func answer(_ owner: JournalOwner?) throws {
        if let owner {
            obstacle.note(owner)
            try notice(owner)
        }
        try holder.sockets.wait(milliseconds: Self.waitMilliseconds)
        let keys = ring?.allowed
        var answers: [(route: [UInt8], frame: PeerFrame)] = []
        try holder.sockets.drainControl(for: .milliseconds(5)) { request, route, principal, foreignVersion in
            guard case .router(let id) = route, Self.may(.readStatus, principal, keys),
                let message = try self.answer(
                    request, foreignVersion, mayOrder: Self.may(.stepDown, principal, keys))
            else { return }
            let epoch = if case .redirect = message { owner?.epoch ?? .none } else { Epoch.none }
            answers.append((id, PeerFrame(history: .none, epoch: epoch, session: .none, message: message)))
        }
        for (route, frame) in answers { try holder.sockets.reply(frame, to: route) }
        var heard = listeners
        try holder.sockets.drainSubscriptions(
            for: .milliseconds(5),
            mayFollow: { topic, principal, _ in Self.may(topic.verb, principal, keys) },
            inbox: { peer in if heard.inboxes.count < Listeners.inboxesMax { heard.inboxes.insert(peer) } },
            stream: { stream in heard.streams.append(stream) })
        listeners = heard
        // Batches belong to sessions that a leader has admitted. Their senders keep them until a leader answers.
        _ = try holder.sockets.drainBatches(for: .milliseconds(5)) { _, _ in }
    }

    static func may(_ verb: Verb, _ principal: Principal, _ keys: AllowedKeys?) -> Bool {
        guard let keys else { return true }
        guard case .key(let key) = principal else { return false }
        return keys[key]?.allows(verb) ?? false
    }

    private func notice(_ new: JournalOwner) throws {
        let before = owner
        owner = new
        guard before.map({ $0.address != new.address || $0.epoch != new.epoch }) ?? true else { return }
        let leader = leader
        if let leader {
            let frame = PeerFrame(history: .none, epoch: new.epoch, session: .none, message: .redirect(leader))
            for peer in led { try holder.sockets.publish(frame, toInboxOf: peer) }
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

    /// - Parameter mayOrder: whether the principal may say which reducer leads.
    private func answer(_ request: ToReducer?, _ foreignVersion: UInt8?, mayOrder: Bool) throws -> ToPeer? {
        if let foreignVersion {
            return .refused(Refused(.protocolVersion, reducer: "\(Wire.version)", peer: "\(foreignVersion)"), to: .none)
        }
        guard let request else { return nil }
        if case .statusRequest = request { return .status(try CBOR.encode(report(at: SystemClock.monotonic))) }
        if mayOrder, case .administration(let number, let document) = request,
            case .standBack(let milliseconds, let who)? = try? CBOR.decode(AdministrationRequest.self, from: document)
        {
            return try standBack(milliseconds, who, number)
        }
        return StandbyAnswer.to(request, loop: loop, leader: leader)
    }

    /// Leaves the journal to other processes for a while.
    private func standBack(_ milliseconds: UInt64, _ who: String, _ number: UInt64) throws -> ToPeer? {
        let wait = Duration.milliseconds(min(milliseconds, 60_000))
        leavesItUntil.withLock { $0 = SystemClock.monotonic + wait }
        let what =
            wait > .zero ? "it leaves the journal to others for \(wait.text)" : "it leads again if the journal is free"
        log.note(.standby, "\(String(who.prefix(256))) has asked it to stand back: \(what)")
        return AnswerPart.parts(of: try CBOR.encode(AdministrationAnswer.done(what)), request: number).first
            .map { .answer($0) }
    }

    private func report(at now: MonotonicTime) -> StatusReport {
        let following = following()
        var report = StatusReport(loop: loop, schema: schema)
        report.role = StatusReport.standbyRole
        report.leader = leader
        report.notReadyBecause =
            "it is a standby, and " + (leader.map { "the leader is at \($0)" } ?? "knows no leader")
        if let (error, since) = obstacle.lasting {
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
