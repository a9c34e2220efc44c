import LoopCluster
import LoopCore
import LoopWire

/// The reducer's processes if several share one database: which one is focused, and how each begins, stands by, leads and ends.
extension ClusterEngine {
    // MARK: The focus

    /// Focuses a candidate. From now on the reducer's process and the sockets are those of this candidate.
    func focus(on index: Int) {
        guard index != candidate.index else { return }
        candidate = candidates[index]
        for peer in roster.present { peer.focus(on: index) }
    }

    /// Focuses a candidate. Returns whether its process is still the given one.
    func isPresent(_ life: ProcessLife) -> Bool {
        focus(on: Int(life.candidate))
        return life == process.life
    }

    /// Focuses the candidate that a process talks to.
    func focused(_ index: Int32) -> Peer? {
        guard let peer = roster[index] else { return nil }
        focus(on: peer.place)
        return peer
    }

    /// Whether the focused candidate is the leader, by the row.
    var isLeading: Bool {
        guard let database = storage.database else { return true }
        return candidate.hold.term == database.row.term
    }

    /// - Returns: whether there is a leader.
    @discardableResult
    func focusOnLeader() -> Bool {
        guard let database = storage.database else { return true }
        guard let leader = candidates.first(where: { $0.hold.term == database.row.term }) else { return false }
        focus(on: leader.index)
        return true
    }

    /// Gives each process a turn now.
    func wakeCandidates() {
        let present = candidate.index
        for index in candidates.indices {
            focus(on: index)
            wakeReducer(at: now)
        }
        focus(on: present)
    }

    // MARK: Beginning

    func startCandidates() throws(Violation) {
        storage.begin(SimulatedDatabase(history: History(random.next() | 1), breaking: brokenRules))
        try observe(.began(storage.history))
        for index in candidates.indices {
            focus(on: index)
            startCandidate()
            agenda.note(.candidateLook(candidate: UInt8(index)), at: now)
        }
    }

    /// A process begins to stand by.
    func startCandidate() {
        process.endLife()
        process.clock.offset = between(0, 1_000_000_000_000)
        process.clock.wallOffset += Int64(between(0, 4000)) - 2000
        candidate.rate = 0.98 + 0.04 * random.fraction()
        candidate.hold = DatabaseHold()
        candidate.hold.holder = random.next()
        candidate.warm = nil
        candidate.following = StandbyFollowing(pace: [1, 40, 400][pick(3)])
        candidate.hold.standing = .away(until: now)
    }

    // MARK: Leading

    /// A term has begun with this row. Everything that is read from now on is read behind it.
    func lead(_ row: JournalRow) throws(Violation) {
        guard let database = storage.database else { return }
        candidate.hold.standing = .leading(row.term)
        let seen = candidate.hold.seen?.end ?? BatchLink()
        candidate.hold.end = brokenRules.contains(.tailIsReadInTheTerm) ? seen : row.end
        // Another process has begun a term since, and has appended something.
        guard database.contains(row.end), database.disk.position == row.end.position else {
            return try loseTerm("it is not the newest")
        }
        if !database.contains(candidate.hold.receipt) {
            throw Violation(
                .nothingLost, "record \(candidate.hold.receipt.position), which had a receipt, is not in the journal")
        }
        let (core, lacking) = try takeOver(row.end)
        tally.takeoverCount += 1
        let moment = TurnMoment(at: now, wall: reducerMoment.wall)
        try noteJournal(through: min(core.position, row.end.position), of: moment)
        // Records that the journal lacks are appended before anything else.
        if lacking.isEmpty {
            try compare(core, database.disk)
        } else {
            tally.completionCount += 1
            try append(TurnUnderWay(of: lacking, through: core.position, at: moment))
        }
        try serve(machine(on: core), database.disk)
    }

    /// The state at the end of the journal: the warm one if its row is in the journal, or else a recovered one.
    /// - Returns: the state, and its newest records that the journal lacks.
    private func takeOver(
        _ end: BatchLink
    ) throws(Violation) -> (core: JournaledState, lacking: ArraySlice<Record>) {
        guard let database = storage.database else { preconditionFailure("a candidate leads without a database") }
        if brokenRules.contains(.tailIsReadInTheTerm) {
            return (try recovered(from: database.disk.records.prefix(Int(candidate.hold.end.position))), [])
        }
        guard let warm = candidate.warm else { return (try recovered(), []) }
        let found = Array(database.disk.records.dropFirst(Int(warm.end.position)))
        let isSound = database.contains(warm.end) && warm.end.position >= database.disk.trimmed
        var lacking = isSound ? WarmState.rest(of: warm.ahead[...], behind: found) : nil
        if brokenRules.contains(.warmStatesAreCompared) { lacking = lacking ?? [] }
        guard let lacking else {
            candidate.warm = nil
            return (try recovered(), [])
        }
        try replay(found.dropFirst(warm.ahead.count))
        guard let core = candidate.warm.take()?.core else { preconditionFailure("a warm state is gone") }
        say("candidate \(candidate.index) goes on from what it has followed, or has led")
        tally.warmTakeoverCount += 1
        return (core, lacking)
    }

    // MARK: Standing by

    /// Answers the messages to a process that does not lead, as a standby does.
    func answerAsStandby() {
        let isAway = candidate.hold.standing != .standingBy && candidate.hold.standing != .takingOver
        let seen = candidate.hold.seen.flatMap { $0.isReleased || $0.address == candidate.address ? nil : $0.address }
        let leader = seen == "" ? nil : seen
        for peer in roster.present {
            for index in peer.sockets.pusher.connections.pipes.indices {
                while peer.sockets.pusher.connections.pipes[index].readableAt <= now {
                    _ = peer.sockets.pusher.connections.pipes[index].popFirst()
                }
            }
            while peer.sockets.dealer.toReducer.readableAt <= now,
                let request = peer.sockets.dealer.toReducer.popFirst()
            {
                if isTranscribing { transcript?.note(.toReducer(peer.index, request), at: now) }
                guard !isAway, let answer = StandbyAnswer.to(request, loop: Work.Definition.name, leader: leader)
                else { continue }
                let frame = PeerFrame(history: .none, epoch: .none, session: .none, message: answer)
                if isTranscribing { transcript?.note(.toPeer(peer.index, frame, isLost: false), at: now) }
                let arrival = max(now + latency(), peer.sockets.cutFromReducerUntil)
                if !peer.sockets.dealer.isDead { peer.sockets.dealer.fromReducer.append(frame, arrival: arrival) }
                wake(peer, at: arrival)
            }
        }
    }

    // MARK: At the peers

    /// Makes a peer listen at all addresses, so that it receives the next leader's messages at once.
    func listenEverywhere(_ peer: Peer) {
        guard candidates.count > 1, peer.role != .local else { return }
        let topics = peer.role == .observer ? peer.sockets.subscriber.topics : [.tick(loop.id)]
        for index in candidates.indices {
            focus(on: index)
            peer.sockets.subscriber.topics = topics
            peer.sockets.subscriber.connect(knownFrom: now + 2 * latency())
            wakeReducer(at: peer.sockets.subscriber.knownFrom)
        }
        focus(on: peer.place)
    }

    /// Reads what was published at the addresses to which the peer does not talk.
    func readElsewhere(_ peer: Peer) throws(Violation) {
        var frames: [(place: String, frame: PeerFrame)] = []
        for index in candidates.indices where index != peer.place {
            focus(on: index)
            while let frame = peer.sockets.subscriber.connections.popFirst(0, at: now) {
                frames.append((candidate.address, frame))
            }
        }
        focus(on: peer.place)
        for (place, frame) in frames where peer.isAlive {
            peer.heardEnds.note(frame, at: now)
            if frame.isForObservers {
                try observe(frame, isReply: false, peer)
                peer.machine.hear(frame, from: place, at: time(peer))
            } else {
                peer.machine.receivePublished(frame, from: place, at: time(peer))
            }
            try settleAccounts(of: peer)
        }
    }

    /// From now on the peer talks to the process at this address.
    func dial(_ address: String, from peer: Peer) {
        guard let index = candidates.firstIndex(where: { $0.address == address }) else {
            return peer.machine.couldNotDial()
        }
        peer.sockets.dealer.close()
        peer.place = index
        focus(on: index)
        renewRoute(of: peer)
    }
}
