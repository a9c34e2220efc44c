import LoopCore
import LoopWire

/// What goes out at the end of a turn: commands, acknowledgements, ticks, updates. (Protocol, sections 2, 5 and 6.)
extension ReducerCore {
    /// Largest payload of one message of commands, assignments or transitions, well below the limit of the wire.
    private var payloadBytesMax: Int { Wire.messageBytesMax / 2 }

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
                members[session]?.needsAssignments = false
                members[session]?.number += 1
                sendAssignments(to: session)
            } else if !member.pending.isEmpty {
                members[session]?.dropPending()
                sendCommands(member.pending, to: session)
            }
        }
    }

    private mutating func sendCommands(_ commands: [Command], to session: SessionID) {
        if commands.reduce(0, { $0 + $1.byteCount }) <= payloadBytesMax { return sendNumbered(commands, to: session) }
        var chunk: [Command] = []
        var bytes = 0
        for command in commands {
            if bytes + command.byteCount > payloadBytesMax, !chunk.isEmpty {
                sendNumbered(chunk, to: session)
                chunk = []
                bytes = 0
            }
            chunk.append(command)
            bytes += command.byteCount
        }
        sendNumbered(chunk, to: session)
    }

    private mutating func sendNumbered(_ commands: [Command], to session: SessionID) {
        guard let number = members[session]?.number else { return }
        members[session]?.number = number + 1
        send(.commands(number: number + 1, commands), to: session)
    }

    /// The whole assignment, over ROUTER, in parts where it is large.
    mutating func sendAssignments(to session: SessionID) {
        guard var member = members[session], let watermark = core.sessions[session]?.watermark else { return }
        if !member.pending.isEmpty {
            // What waits to be sent is part of the assignment, and takes a number, so that a tick shows its loss.
            member.dropPending()
            member.number += 1
            members[session] = member
        }
        var parts: [[Grant]] = [[]]
        var bytes = 0
        for effect in member.effects.sorted() {
            guard let owner = owners[effect], let live = core.effects[effect] else { continue }
            let grant = grantMessage(effect, owner.attempt, live)
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
            let base = breaks(.acknowledgementsHaveABase) ? 0 : member.acknowledged
            send(
                .acknowledgement(
                    Acknowledgement(
                        base: base, watermark: record.watermark, notable: record.notable(after: member.acknowledged))),
                to: session)
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
            if outcome != nil { announceEnd(to: session) }
        }
        if outcome != nil { publishEnd() }
        publish(.commonTick(core.seq), on: .tick(core.loop.id))
        transfers.removeAll { now.monotonic - $0.usedAt > .seconds(10) }
    }

    func tick(for session: SessionID, resend: Bool) -> ToPeer {
        let watermark = core.sessions[session]?.watermark ?? 0
        return .tick(
            Tick(
                number: members[session]?.number ?? 0, watermark: watermark, received: watermark,
                stamp: now.monotonic.nanoseconds, resend: resend))
    }

    mutating func announceEnd(to session: SessionID) {
        guard let outcome else { return }
        send(.ended(exitCode: outcome.exitCode, text: String(outcome.text.prefix(4096))), to: session)
    }

    /// For those who watch without a session.
    mutating func publishEnd() {
        guard let outcome else { return }
        publish(
            .ended(exitCode: outcome.exitCode, text: String(outcome.text.prefix(4096))),
            on: .tick(core.loop.id))
    }

    private mutating func publish(_ message: ToPeer, on topic: Topic) {
        messages.append(
            .publish(
                topic, PeerFrame(history: core.history, epoch: core.epoch, session: .none, message: message)))
    }

    /// The whole state, while somebody subscribes and as often as is allowed. A state too large for one message is
    /// only announced by the common tick; observers fetch it in parts.
    mutating func publishState() {
        guard subscriptions.updates > 0, publishedSeq != core.seq, now.monotonic >= nextUpdate else { return }
        let interval = Duration.seconds(1 / configuration.updatesPerSecond)
        guard let bytes = try? core.fold.encodedState() else { return }
        // A large state costs more to encode: it is published less often.
        nextUpdate = now.monotonic + interval * max(1, bytes.count / (128 << 10))
        publishedSeq = core.seq
        if bytes.count <= configuration.stateBytesMax {
            publish(.update(core.seq, state: bytes), on: .updates(core.loop.id))
        } else {
            publish(.commonTick(core.seq), on: .tick(core.loop.id))
        }
    }

    /// A new subscriber waits for no change: the next turn publishes the state as it is.
    mutating func publishStateAgain() { publishedSeq = nil }

    mutating func note(_ record: EventRecord) {
        notes.append(
            TransitionNote(
                seq: record.seq, time: record.time, session: record.session, effect: record.effect,
                event: Array(record.bytes)))
    }

    mutating func publishTransitions() {
        guard !notes.isEmpty else { return }
        let topic = Topic.transitions(core.loop.id)
        var chunk: [TransitionNote] = []
        var bytes = 0
        for note in notes {
            if bytes + note.event.count + 45 > payloadBytesMax, !chunk.isEmpty {
                publish(.transitions(chunk), on: topic)
                chunk = []
                bytes = 0
            }
            chunk.append(note)
            bytes += note.event.count + 45
        }
        publish(.transitions(chunk), on: topic)
        notes.removeAll(keepingCapacity: true)
    }

    /// A part of an encoded state. One encoded state serves all who ask within a second; few are kept at once.
    mutating func answerState(_ id: UInt64, offset: UInt64, _ route: Route) {
        let position = transfers.firstIndex { $0.id == id } ?? beginTransfer()
        guard let position else {
            count(.stateTransferBusy)
            return reply(.busy(retryAfter: .seconds(1)), to: route)
        }
        transfers[position].usedAt = now.monotonic
        let transfer = transfers[position]
        let start = transfer.id == id ? min(Int(clamping: offset), transfer.bytes.count) : 0
        let end = min(start + configuration.statePartBytes, transfer.bytes.count)
        reply(
            .statePart(
                StatePart(
                    transfer: transfer.id, seq: transfer.seq, total: UInt64(transfer.bytes.count),
                    offset: UInt64(start), bytes: Array(transfer.bytes[start..<end]))),
            to: route)
    }

    private mutating func beginTransfer() -> Int? {
        if let recent = transfers.lastIndex(where: {
            $0.seq == core.seq || now.monotonic - $0.madeAt < .seconds(1)
        }) {
            return recent
        }
        guard transfers.count < 4, let bytes = try? core.fold.encodedState() else { return nil }
        transfersCount += 1
        transfers.append(
            StateTransfer(
                id: transfersCount, seq: core.seq, bytes: bytes, madeAt: now.monotonic, usedAt: now.monotonic))
        return transfers.count - 1
    }
}

/// An encoded state that observers fetch in parts.
struct StateTransfer: Sendable {
    let id: UInt64
    let seq: Seq
    let bytes: [UInt8]
    let madeAt: MonotonicTime
    var usedAt: MonotonicTime
}

extension Command {
    /// The bytes this command takes on the wire, at most.
    var byteCount: Int {
        switch self {
        case .start(let grant): 1 + grant.byteCount
        case .update(_, _, _, let request): 45 + request.count
        case .cancel: 33
        }
    }
}
