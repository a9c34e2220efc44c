import LoopCore
import LoopTesting
import LoopWire

/// A run's messages for people, with the names of feedbacks and with decoded events and requests.
///
/// The reducer's messages are at the time when they leave, and the messages to it at the time when it reads them.
struct Conversation<Work: Workload> {
    private let engine: World<Work>
    private let feedbacks: [Feedback<Work.Definition.State, Work.Definition.Event>]
    private let names: [Int: String]
    /// Whether every message is shown, with the numbers of its process, session and epoch. If not, processes have names, and ticks
    /// and heartbeats without news are left out.
    private let isWhole: Bool
    /// The last sign of life that was shown, by process and direction.
    private var shown: [String: String] = [:]

    init(_ engine: World<Work>, isWhole: Bool) {
        self.engine = engine
        self.isWhole = isWhole
        feedbacks = engine.work.definition.allFeedbacks
        var counts: [String: Int] = [:]
        var names: [Int: String] = [:]
        for (index, place) in engine.roster.places.enumerated() {
            let name = "\(place.role) \(place.slot)"
            counts[name, default: 0] += 1
            names[index] = name + String(repeating: "′", count: (counts[name] ?? 1) - 1)
        }
        self.names = names
    }

    /// One line for each message, the oldest first.
    mutating func lines() -> [String] {
        var lines: [String] = []
        for (time, line) in engine.transcript?.lines ?? [] {
            if let text = text(line) { lines.append("\(Transcript.seconds(time))  \(text)") }
        }
        return lines
    }

    private mutating func text(_ line: Transcript.Line) -> String? {
        switch line {
        case .word(let word): return "— \(word)"
        case .batch(let peer, let batch):
            let entries = batch.entries.map(text).joined(separator: ", ")
            let last = batch.first + UInt64(batch.entries.count) - 1
            let numbers = batch.first == last ? "\(last)" : "\(batch.first)…\(last)"
            return "\(name(peer)) → reducer: \(place(batch.session))\(numbers) \(entries)"
        case .toReducer(let peer, let message):
            guard let text = text(message, from: peer) else { return nil }
            return "\(name(peer)) → reducer: \(text)"
        case .toPeer(let peer, let frame, let isLost):
            guard let text = text(frame.message, to: peer, isLost) else { return nil }
            let place = place(frame.session, frame.epoch)
            return "reducer → \(name(peer)): \(place)\(text)\(isLost ? " (lost)" : "")"
        }
    }

    // MARK: What peers say

    private func text(_ entry: Entry) -> String {
        let what: String =
            switch entry.kind {
            case .event: event(entry.payload) + (entry.isLast ? " and completed" : "")
            case .completed: "completed"
            case .failed: "failed"
            case .released: "released"
            }
        return entry.effect.map { "\(what) by \(attempt($0, entry.attempt))" } ?? what
    }

    private mutating func text(_ message: ToReducer, from peer: Int) -> String? {
        switch message {
        case .hello: "hello"
        case .join(let joinRequest):
            place(joinRequest.session, joinRequest.epoch)
                + (joinRequest.session == .none
                    ? "join, new here" : "join, session \(joinRequest.session), watermark \(joinRequest.watermark)")
        case .claim(let session, let epoch, let part):
            "\(place(session))claim in epoch \(epoch): "
                + (part.parts > 1 ? "part \(part.part + 1) of \(part.parts): " : "")
                + (part.attempts.isEmpty
                    ? "nothing" : part.attempts.map { attempt($0.effect, $0.attempt) }.joined(separator: ", "))
        case .heartbeat(let beat):
            news(
                "\(place(beat.session))heartbeat, inbox applied to #\(beat.applied), outbox settled to \(beat.settled)",
                of: "← \(peer)")
        case .assignmentsRequest(let session, _): "\(place(session))what am I to run?"
        case .outcomesRequest(let session, let after): "\(place(session))what became of the entries after \(after)?"
        case .goodbye: "goodbye"
        default: "\(message)"
        }
    }

    // MARK: What the reducer says

    private mutating func text(_ message: ToPeer, to peer: Int, _ isLost: Bool) -> String? {
        switch message {
        case .introduction: "introduction"
        case .joinAccepted(let watermark, _, _, _): "join accepted, watermark \(watermark)"
        case .commands(let number, let commands): "#\(number) " + commands.map(text).joined(separator: ", ")
        case .acknowledgement(let acknowledgement): "acknowledgement \(text(acknowledgement))"
        case .outcomes(let acknowledgement): "outcomes \(text(acknowledgement))"
        case .tick(let tick):
            news(
                "tick, inbox #\(tick.number), watermark \(tick.watermark)" + (tick.resend ? ", resend" : ""),
                of: "→ \(peer)\(isLost)")
        case .assignments(let set):
            "assignments as of #\(set.number), watermark \(set.watermark): "
                + (set.grants.isEmpty
                    ? "nothing" : set.grants.map { attempt($0.effect, $0.attempt) }.joined(separator: ", "))
        case .refusalDetails(let details):
            "refused because " + details.map { "\($0.number): \($0.text)" }.joined(separator: ", ")
        case .ended(let seq, let code, let text): "ended at \(seq) with \(code): \(text)"
        case .serverHeartbeat(let seq): news("seq is \(seq)", of: "seq")
        case .update(let seq, _): "update \(seq)"
        case .transitions(let notes):
            "transitions " + notes.map { "\($0.seq) \(event($0.event[...]))" }.joined(separator: ", ")
        case .statePart(let part):
            "part \(part.part) of the state at \(part.seq): \(part.bytes.count) bytes, end \(part.end), transfer \(part.transfer)"
        default: "\(message)"
        }
    }

    private func text(_ command: Command) -> String {
        switch command {
        case .start(let grant):
            "start \(attempt(grant.effect, grant.attempt)) for \(request(grant.effect, grant.request))"
                + (grant.isResumed ? ", resumed" : "")
        case .update(let effect, let number, _, let bytes):
            "update \(attempt(effect, number)) to \(request(effect, bytes))"
        case .cancel(let effect, let number): "cancel \(attempt(effect, number))"
        }
    }

    private func text(_ acknowledgement: Acknowledgement) -> String {
        let notable = acknowledgement.notable.map { item in
            switch item.outcome {
            case .applied(let seq): "\(item.number) applied at \(seq)"
            case .refused(let reason): "\(item.number) refused: \(reason)"
            }
        }
        return (["\(acknowledgement.base + 1)…\(acknowledgement.watermark)"] + notable).joined(separator: ", ")
    }

    // MARK: Names and values

    private func name(_ peer: Int) -> String { isWhole ? "\(peer)" : names[peer] ?? "peer \(peer)" }

    /// The numbers of a message's epoch and session, if they are shown.
    private func place(_ session: SessionID, _ epoch: Epoch? = nil) -> String {
        isWhole ? (epoch.map { "e\($0) " } ?? "") + "s\(session) " : ""
    }

    private func attempt(_ effect: EffectID, _ attempt: Attempt) -> String {
        let position = Int(effect.feedback)
        let feedback = position < feedbacks.count ? feedbacks[position].name : "?"
        return "\(feedback)(\(effect)) attempt \(attempt)"
    }

    private func event(_ bytes: ArraySlice<UInt8>) -> String {
        (try? engine.loop.coder.decode(Work.Definition.Event.self, from: Array(bytes))).map { ValueText.of($0) }
            ?? "no event"
    }

    private func request(_ effect: EffectID, _ bytes: [UInt8]) -> String {
        let position = Int(effect.feedback)
        guard position < feedbacks.count, let coding = feedbacks[position].requestCoding,
            let request = try? coding.decode(bytes, engine.loop.coder)
        else { return "a request" }
        return ValueText.of(request)
    }

    /// Returns the text, or nil if it was already shown and is no news.
    private mutating func news(_ text: String, of whom: String) -> String? {
        shown.updateValue(text, forKey: whom) == text && !isWhole ? nil : text
    }
}

extension World {
    /// Every message that the transcript has kept, the oldest first.
    package var messages: [String] {
        var conversation = Conversation(self, isWhole: true)
        return conversation.lines()
    }
}
