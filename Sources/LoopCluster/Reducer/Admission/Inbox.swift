import LoopCore
import LoopWire

/// A member's numbered messages, whose numbers show gaps. Commands wait until the window lets them through.
///
///     commands wait ──▶ numbered messages          too many wait ──▶ the whole assignment
struct Inbox: Sendable {
    /// The number of the newest numbered message that was sent.
    private(set) var number: UInt64 = 0
    /// The newest numbered message that the peer has reported as applied.
    private(set) var applied: UInt64 = 0
    private var pending = CommandRun()
    /// How many of the waiting commands are starts.
    private var pendingStarts = 0
    /// Whether commands were dropped to keep the queue bounded, so that the whole assignment is sent instead.
    private(set) var needsAssignments = false

    /// How many numbered messages are under way.
    var lag: UInt64 { number - applied }

    /// How many commands wait.
    var pendingCount: Int { pending.count }

    /// Whether something waits to be sent.
    var isWaiting: Bool { needsAssignments || !pending.isEmpty }

    /// Whether fewer numbered messages are under way than there may be.
    func isOpen(window: UInt64) -> Bool { lag < window }

    mutating func hasApplied(_ number: UInt64) { applied = max(applied, min(number, self.number)) }

    // MARK: Waiting commands

    /// Queues a command. When the queue is full, it is replaced by the whole assignment.
    /// - Parameter countMax: how many commands may wait.
    mutating func take(_ command: Command, atMost countMax: Int) {
        if case .cancel(let effect, let attempt) = command, pendingStarts > 0,
            let unsent = pending.indices.first(where: { pending.does(.start, effect, attempt, at: $0) })
        {
            // A start that is cancelled in the same batch is never sent.
            pending.remove(at: unsent)
            pendingStarts -= 1
            return
        }
        if pending.count >= countMax {
            dropPending()
            needsAssignments = true
        }
        if needsAssignments { return }
        if case .start = command { pendingStarts += 1 }
        pending.append(command)
    }

    /// Takes back the cancellation of an attempt, if it is one of the last that wait. Most effects end with the event that ends
    /// their request, and the next entry, or a near one, reports their end.
    mutating func dropCancel(_ effect: EffectID, _ attempt: Attempt) {
        for position in pending.indices.suffix(16).reversed() {
            if pending.does(.cancel, effect, attempt, at: position) {
                pending.remove(at: position)
                return
            }
        }
    }

    private mutating func dropPending() {
        // The next turn probably queues about as many bytes.
        let room = min(pending.byteCount, 256 << 10)
        pending = CommandRun()
        pending.reserve(room)
        pendingStarts = 0
    }

    // MARK: Sending

    /// Takes the waiting commands as numbered messages.
    /// - Parameter bytesMax: the largest payload of one message.
    mutating func takeCommands(bytesMax: Int) -> [ToPeer] {
        let commands = pending
        dropPending()
        var messages: [ToPeer] = []
        var start = commands.startIndex
        while start < commands.endIndex {
            let end = start + commands.count(from: start, bytesMax: bytesMax)
            number += 1
            messages.append(.commands(number: number, commands[start..<end]))
            start = end
        }
        return messages
    }

    /// The whole assignment, in parts if it is large. It includes what waits to be sent.
    /// - Parameters:
    ///   - bytesMax: the largest payload of one message.
    ///   - takesNumber: whether it takes a number if it includes what waited, so that a tick shows its loss.
    mutating func assignments(
        of grants: [Grant], watermark: UInt64, bytesMax: Int, takesNumber: Bool
    ) -> [ToPeer] {
        if isWaiting {
            dropPending()
            needsAssignments = false
            if takesNumber { number += 1 }
        }
        var parts: [[Grant]] = [[]]
        var bytes = 0
        for grant in grants {
            if bytes + grant.byteCount > bytesMax {
                parts.append([])
                bytes = 0
            }
            parts[parts.count - 1].append(grant)
            bytes += grant.byteCount
        }
        return parts.enumerated().map { part, grants in
            .assignments(
                Assignments(
                    number: number, watermark: watermark, part: UInt32(part), parts: UInt32(parts.count),
                    grants: grants))
        }
    }
}
