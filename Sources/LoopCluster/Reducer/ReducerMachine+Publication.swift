import LoopCore
import LoopWire

/// The messages to the members: commands, acknowledgements, ticks. (Protocol, sections 2, 5 and 6.)
extension ReducerMachine {
    /// Sends the commands that wait for members, through their inboxes, as far as their windows let them through.
    mutating func sendCommands() {
        for session in admission.members.awaitingCommands(window: context.inboxWindow) {
            guard let index = admission.members.index(forKey: session) else { continue }
            if admission.members[at: index].inbox.needsAssignments {
                sendAssignments(to: session)
                continue
            }
            let peer = admission.members[at: index].peer
            let messages = admission.members[at: index].inbox.takeCommands(
                bytesMax: context.configuration.payloadBytesMax)
            for message in messages { turn.send(message, to: peer, session: session) }
        }
    }

    /// Sends the whole assignment of a member, over ROUTER.
    mutating func sendAssignments(to session: SessionID) {
        guard let index = admission.members.index(forKey: session),
            let watermark = journaled.sessions[session]?.watermark
        else { return }
        let parts = admission.members[at: index].inbox.assignments(
            of: dispatch.grants(of: session, admission.members, journaled), watermark: watermark,
            bytesMax: context.configuration.payloadBytesMax, takesNumber: !breaks(.assignmentsTakeANumber))
        for part in parts { turn.reply(part, to: admission.members[at: index].route, session: session) }
    }

    /// Sends acknowledgements to the members whose entries were consumed.
    mutating func acknowledge() {
        for session in turn.acknowledgementsDue {
            guard let index = admission.members.index(forKey: session), let record = journaled.sessions[session] else {
                continue
            }
            var (peer, base) = admission.members[at: index].acknowledge(upTo: record.watermark)
            repeat {
                var part = record.acknowledgement(after: base, bytesMax: context.outcomesBytesMax)
                let details = record.details(of: part)
                if !details.isEmpty { turn.send(.refusalDetails(details), to: peer, session: session) }
                base = part.watermark
                if breaks(.acknowledgementsHaveABase) { part.base = 0 }
                turn.send(.acknowledgement(part), to: peer, session: session)
            } while base < record.watermark
        }
        turn.forgetAcknowledgements()
    }

    /// Answers a peer with the outcomes of its entries after a number.
    mutating func answerOutcomes(after number: UInt64, of session: SessionID) {
        guard let route = admission.members[session]?.route, let record = journaled.sessions[session] else { return }
        // The request forgets no outcome, because it names no epoch, and may be for another history's session of this number.
        var base = number
        repeat {
            let part = record.acknowledgement(after: base, bytesMax: context.outcomesBytesMax)
            let details = record.details(of: part)
            if !details.isEmpty { turn.reply(.refusalDetails(details), to: route, session: session) }
            turn.reply(.outcomes(part), to: route, session: session)
            base = part.watermark
        } while base < record.watermark
    }

    /// Sends a member a tick.
    /// - Parameter resend: whether it is to send again what comes after the entries that were read without a gap.
    mutating func sendTick(to session: SessionID, resend: Bool) {
        guard let member = admission.members[session] else { return }
        let watermark = journaled.sessions[session]?.watermark ?? 0
        let read = poison.received(of: session, after: watermark)
        // Unread batches are not lost. A sender that is asked for them again would double what has to be read.
        let isKnown = resend || !facts.hasUnreadBatches
        let received = breaks(.slownessIsNotLoss) ? watermark : isKnown ? read : .max
        let tick = Tick(
            number: member.inbox.number, watermark: watermark, received: received,
            stamp: context.now.monotonic.nanoseconds, resend: resend)
        turn.send(.tick(tick), to: member.peer, session: session)
    }
}
