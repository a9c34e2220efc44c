import LoopCore
import LoopWire

/// What goes out at the end of a turn: commands, acknowledgements, ticks, updates. (Protocol, sections 2, 5 and 6.)
extension ReducerCore {
    var payloadBytesMax: Int { configuration.payloadBytesMax }

    /// The same for acknowledgements and outcomes.
    var outcomesBytesMax: Int { breaks(.messagesComeInParts) ? .max : payloadBytesMax }

    /// A command waits in its member's queue until the end of the turn.
    mutating func command(_ command: Command, to session: SessionID) {
        guard let index = members.index(forKey: session) else { return }
        members.values[index].take(command)
    }

    /// How many numbered messages may be under way to one member.
    var inboxWindow: UInt64 { breaks(.inboxesAreBounded) ? .max : configuration.inboxWindow }

    mutating func flushCommands() {
        guard members.values.contains(where: { $0.needsAssignments || !$0.pending.isEmpty }) else { return }
        for session in members.keys.sorted() {
            guard let member = members[session], member.number - member.applied < inboxWindow else { continue }
            if member.needsAssignments {
                sendAssignments(to: session)
            } else if !member.pending.isEmpty {
                members[session]?.dropPending()
                sendCommands(member.pending, to: session)
            }
        }
    }

    private mutating func sendCommands(_ commands: CommandRun, to session: SessionID) {
        var start = commands.startIndex
        while start < commands.endIndex {
            let end = start + commands.count(from: start, bytesMax: payloadBytesMax)
            sendNumbered(commands[start..<end], to: session)
            start = end
        }
    }

    private mutating func sendNumbered(_ commands: CommandRun, to session: SessionID) {
        guard let number = members[session]?.number else { return }
        members[session]?.number = number + 1
        send(.commands(number: number + 1, commands), to: session)
    }

    /// The whole assignment, over ROUTER, in parts where it is large.
    mutating func sendAssignments(to session: SessionID) {
        guard var member = members[session], let watermark = core.sessions[session]?.watermark else { return }
        if !member.pending.isEmpty || member.needsAssignments {
            // What waits to be sent is part of the assignment, and takes a number, so that a tick shows its loss.
            member.dropPending()
            member.needsAssignments = false
            if !breaks(.assignmentsTakeANumber) { member.number += 1 }
            members[session] = member
        }
        var parts: [[Grant]] = [[]]
        var bytes = 0
        for effect in effects(heldBy: member, session) {
            guard let place = core.effects.index(forKey: effect), let owner = owners[place] else { continue }
            let grant = grantMessage(effect, owner.attempt, core.effects[at: place])
            if bytes + grant.byteCount > payloadBytesMax {
                parts.append([])
                bytes = 0
            }
            parts[parts.count - 1].append(grant)
            bytes += grant.byteCount
        }
        for (part, grants) in parts.enumerated() {
            reply(
                .assignments(
                    Assignments(
                        number: member.number, watermark: watermark, part: UInt32(part), parts: UInt32(parts.count),
                        grants: grants)),
                to: member.route, session: session)
        }
    }

    mutating func flushAcknowledgements() {
        for session in toAcknowledge {
            guard let member = members[session], let record = core.sessions[session] else { continue }
            var base = member.acknowledged
            repeat {
                var part = record.acknowledgement(after: base, bytesMax: outcomesBytesMax)
                base = part.watermark
                if breaks(.acknowledgementsHaveABase) { part.base = 0 }
                send(.acknowledgement(part), to: session)
            } while base < record.watermark
            members[session]?.acknowledged = record.watermark
        }
        toAcknowledge.removeAll(keepingCapacity: true)
    }

    mutating func tickIfDue() {
        guard now.monotonic >= nextTick else { return }
        nextTick = now.monotonic + configuration.tickInterval
        retireSessions()
        rate.sample(core.seq, at: now.monotonic)
        for session in members.keys.sorted() {
            send(tick(for: session, resend: false), to: session)
        }
        publish(.serverHeartbeat(core.seq), on: .tick(core.loop.id))
        if !breaks(.endsAreRepeated) { announceEnd() }
        updates.announce(core.seq)
        publishHashes()
        transfers.removeAll { $0.isComplete && now.monotonic - $0.usedAt > .seconds(10) }
    }

    func tick(for session: SessionID, resend: Bool) -> ToPeer {
        let watermark = core.sessions[session]?.watermark ?? 0
        // What waits unread is not lost: who asks for it again has twice as much to read.
        let isKnown = resend || !hasUnreadBatches
        let received =
            breaks(.slownessIsNotLoss) ? watermark : isKnown ? received(of: session, after: watermark) : .max
        return .tick(
            Tick(
                number: members[session]?.number ?? 0, watermark: watermark, received: received,
                stamp: now.monotonic.nanoseconds, resend: resend))
    }

    /// Up to where a session's entries have been read without a gap, those too that wait for a turn of their own.
    func received(of session: SessionID, after watermark: UInt64) -> UInt64 {
        var received = watermark
        for batch in poison.deferred.batches where batch.session == session && batch.first <= received &+ 1 {
            received = max(received, batch.first + UInt64(batch.entries.count) - 1)
        }
        return received
    }

    /// Tells everybody of the end, those who watch without a session too.
    mutating func announceEnd() {
        guard let announcement else { return }
        for session in members.keys.sorted() { send(announcement, to: session) }
        publish(announcement, on: .tick(core.loop.id))
    }

    mutating func announceEnd(to session: SessionID) {
        if let announcement { send(announcement, to: session) }
    }

    private var announcement: ToPeer? {
        outcome.map { .ended(at: core.seq, exitCode: $0.exitCode, text: String($0.text.prefix(4096))) }
    }

    mutating func publish(_ message: ToPeer, on topic: Topic) {
        messages.append(
            .publish(
                topic, PeerFrame(history: core.history, epoch: core.epoch, session: .none, message: message)))
    }
}
