import LoopCore
import LoopWire

/// The messages to the members at the end of a turn: commands, acknowledgements, ticks. (Protocol, sections 2, 5 and 6.)
struct Publication: Sendable {
    /// Whether the shell's sockets have unread batches, as of this turn. If so, it is not known what was lost.
    var hasUnreadBatches = false
    private(set) var nextTick: MonotonicTime
    private(set) var rate = EventRate()

    init(at now: Moment) { nextTick = now.monotonic }

    /// Sends the commands that wait for a member, through its inbox.
    func sendCommands(
        to session: SessionID, _ members: inout Members, _ turn: inout TurnOutput, _ context: TurnContext
    ) {
        guard let index = members.index(forKey: session) else { return }
        let peer = members[at: index].peer
        let messages = members[at: index].inbox.takeCommands(bytesMax: context.configuration.payloadBytesMax)
        for message in messages { turn.send(message, to: peer, session: session) }
    }

    /// Sends the whole assignment of a member, over ROUTER.
    func sendAssignments(
        _ grants: [Grant], to session: SessionID, _ members: inout Members, _ journaled: JournaledState,
        _ turn: inout TurnOutput, _ context: TurnContext
    ) {
        guard let index = members.index(forKey: session), let watermark = journaled.sessions[session]?.watermark else {
            return
        }
        let parts = members[at: index].inbox.assignments(
            of: grants, watermark: watermark, bytesMax: context.configuration.payloadBytesMax,
            takesNumber: !context.breaks(.assignmentsTakeANumber))
        for part in parts { turn.reply(part, to: members[at: index].route, session: session) }
    }

    /// Sends acknowledgements to the members whose entries were consumed.
    func acknowledge(
        _ members: inout Members, _ journaled: JournaledState, _ turn: inout TurnOutput, _ context: TurnContext
    ) {
        for session in turn.acknowledgementsDue {
            guard let index = members.index(forKey: session), let record = journaled.sessions[session] else { continue }
            var (peer, base) = members[at: index].acknowledge(upTo: record.watermark)
            repeat {
                var part = record.acknowledgement(after: base, bytesMax: context.outcomesBytesMax)
                let details = record.details(of: part)
                if !details.isEmpty { turn.send(.refusalDetails(details), to: peer, session: session) }
                base = part.watermark
                if context.breaks(.acknowledgementsHaveABase) { part.base = 0 }
                turn.send(.acknowledgement(part), to: peer, session: session)
            } while base < record.watermark
        }
        turn.forgetAcknowledgements()
    }

    /// Answers a peer with the outcomes of its entries after a number.
    func answerOutcomes(
        after number: UInt64, of session: SessionID, _ members: Members, _ journaled: JournaledState,
        _ turn: inout TurnOutput, _ context: TurnContext
    ) {
        guard let member = members[session], let record = journaled.sessions[session] else { return }
        // The request forgets no outcome, because it names no epoch, and may be for another history's session of this number.
        var base = number
        repeat {
            let part = record.acknowledgement(after: base, bytesMax: context.outcomesBytesMax)
            let details = record.details(of: part)
            if !details.isEmpty { turn.reply(.refusalDetails(details), to: member.route, session: session) }
            turn.reply(.outcomes(part), to: member.route, session: session)
            base = part.watermark
        } while base < record.watermark
    }

    // MARK: Ticks

    /// - Returns: whether a tick is due. If so, the next one comes an interval later.
    mutating func beginTick(_ seq: Seq, _ context: TurnContext) -> Bool {
        let now = context.now.monotonic
        guard now >= nextTick else { return false }
        nextTick = now + context.configuration.tickInterval
        rate.sample(seq, at: now)
        return true
    }

    /// The tick of one member.
    /// - Parameters:
    ///   - read: the number up to which its entries were read without a gap.
    ///   - resend: whether it is to send again what comes after that.
    func tick(
        of member: Member, watermark: UInt64, read: UInt64, resend: Bool, _ context: TurnContext
    ) -> ToPeer {
        // Unread batches are not lost. A sender that is asked for them again would double what has to be read.
        let isKnown = resend || !hasUnreadBatches
        let received = context.breaks(.slownessIsNotLoss) ? watermark : isKnown ? read : .max
        return .tick(
            Tick(
                number: member.inbox.number, watermark: watermark, received: received,
                stamp: context.now.monotonic.nanoseconds, resend: resend))
    }
}

/// Events per second over the last few ticks.
struct EventRate: Sendable {
    private var samples: [(seq: Seq, time: MonotonicTime)] = []

    mutating func sample(_ seq: Seq, at time: MonotonicTime) {
        samples.append((seq, time))
        if samples.count > 8 { samples.removeFirst() }
    }

    func perSecond(_ seq: Seq, at now: MonotonicTime) -> Double {
        guard let first = samples.first, now > first.time else { return 0 }
        return Double(seq.value - first.seq.value) / (now - first.time).inSeconds
    }
}
