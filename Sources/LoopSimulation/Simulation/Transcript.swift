import LoopWire

/// The last messages of a run, for people, and a hash of all messages, which distinguishes two runs.
package struct Transcript: Sendable {
    enum Line: Sendable {
        case toPeer(Int, PeerFrame, isLost: Bool)
        case toReducer(Int, ToReducer)
        case batch(Int, Batch)
        case word(String)
    }

    private var kept: [(time: UInt64, line: Line)] = []
    private var next = 0
    private let limit: Int
    /// The hash of every message's bytes, in order.
    package private(set) var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    package private(set) var count = 0

    private let loop: LoopID
    /// The text of an encoded event, or nil for none.
    private let describeEvent: @Sendable (ArraySlice<UInt8>) -> String?

    init(limit: Int, loop: LoopID, describeEvent: @escaping @Sendable (ArraySlice<UInt8>) -> String?) {
        self.limit = limit
        self.loop = loop
        self.describeEvent = describeEvent
    }

    mutating func note(_ line: Line, at time: UInt64) {
        count += 1
        hash =
            switch line {
            case .word(let text): StableHash.fnv1a(text.utf8, seed: hash)
            case .toPeer(_, let frame, _): StableHash.fnv1a(frame.bytes(topic: nil), seed: hash)
            case .toReducer(_, let message): StableHash.fnv1a(message.bytes(loop: loop), seed: hash)
            case .batch(_, let batch): StableHash.fnv1a(batch.bytes, seed: hash)
            }
        hash = (hash ^ time) &* 0x0000_0100_0000_01b3
        if kept.count < limit {
            kept.append((time, line))
        } else {
            kept[next] = (time, line)
            next = (next + 1) % limit
        }
    }

    /// The last messages, the oldest first.
    var lines: [(time: UInt64, line: Line)] { Array(kept[next...] + kept[..<next]) }

    /// One line for each message, the oldest first.
    package var text: [String] {
        lines.map { "\(Transcript.seconds($0.time))  \(describe($0.line))" }
    }

    static func seconds(_ nanoseconds: UInt64) -> String {
        let micros = nanoseconds / 1000 % 1_000_000
        let digits = String(micros)
        return "\(nanoseconds / 1_000_000_000)." + String(repeating: "0", count: 6 - digits.count) + digits
    }

    private func describe(_ line: Line) -> String {
        switch line {
        case .toPeer(let peer, let frame, let isLost):
            "reducer → \(peer)\(isLost ? " (lost)" : ""): e\(frame.epoch) s\(frame.session) \(describe(frame.message))"
        case .toReducer(let peer, let message): "\(peer) → reducer: \(Transcript.describe(message))"
        case .batch(let peer, let batch):
            "\(peer) → reducer: batch s\(batch.session) \(batch.first)…\(batch.first + UInt64(batch.entries.count) - 1) "
                + batch.entries.map(describe).joined(separator: " ")
        case .word(let text): "— \(text)"
        }
    }

    private func describe(_ entry: Entry) -> String {
        let event = entry.kind == .event ? describeEvent(entry.payload).map { " \($0)" } ?? "" : ""
        guard let effect = entry.effect else { return "\(entry.kind)\(event)" }
        return "\(entry.kind)(\(effect) \(entry.attempt))\(event)"
    }

    private func describe(_ message: ToPeer) -> String {
        switch message {
        case .introduction: "introduction"
        case .joinAccepted(let watermark, _, _, _): "accepted wm \(watermark)"
        case .commands(let number, let commands):
            "commands #\(number) " + commands.map(Transcript.describe).joined(separator: " ")
        case .acknowledgement(let ack): "ack \(Transcript.describe(ack))"
        case .outcomes(let ack): "outcomes \(Transcript.describe(ack))"
        case .tick(let tick): "tick #\(tick.number) wm \(tick.watermark)\(tick.resend ? " resend" : "")"
        case .assignments(let set):
            "assignments #\(set.number) wm \(set.watermark) part \(set.part)/\(set.parts) "
                + set.grants.map { "\($0.effect) \($0.attempt)" }.joined(separator: ", ")
        case .update(let seq, _): "update \(seq)"
        case .transitions(let notes):
            "transitions "
                + notes.map { note in "\(note.seq)\(describeEvent(note.event[...]).map { " \($0)" } ?? "")" }
                .joined(separator: ", ")
        case .statePart(let part):
            "part \(part.part) of the state at \(part.seq): \(part.bytes.count) bytes, end \(part.end), transfer \(part.transfer)"
        case .serverHeartbeat(let seq): "tick at \(seq)"
        default: "\(message)"
        }
    }

    private static func describe(_ ack: Acknowledgement) -> String {
        "\(ack.base)…\(ack.watermark) "
            + ack.notable.map { item in
                switch item.outcome {
                case .applied(let seq): "\(item.number) at \(seq)"
                case .refused(let reason): "\(item.number) refused \(reason)"
                }
            }.joined(separator: ", ")
    }

    private static func describe(_ command: Command) -> String {
        switch command {
        case .start(let grant): "start \(grant.effect) \(grant.attempt)"
        case .update(let effect, let attempt, _, _): "update \(effect) \(attempt)"
        case .cancel(let effect, let attempt): "cancel \(effect) \(attempt)"
        }
    }

    private static func describe(_ message: ToReducer) -> String {
        switch message {
        case .hello: "hello"
        case .join(let joinRequest): "join s\(joinRequest.session) e\(joinRequest.epoch) wm \(joinRequest.watermark)"
        case .claim(let session, let epoch, let part):
            "claim s\(session) e\(epoch) "
                + (part.parts > 1 ? "#\(part.number), part \(part.part + 1) of \(part.parts): " : "")
                + part.attempts.map { "\($0.effect) \($0.attempt)" }.joined(separator: ", ")
        case .heartbeat(let beat): "heartbeat s\(beat.session) applied \(beat.applied) settled \(beat.settled)"
        case .assignmentsRequest(let session, _): "assignments? s\(session)"
        case .outcomesRequest(let session, let after): "outcomes? s\(session) after \(after)"
        default: "\(message)"
        }
    }
}
