import CBOR
import LoopCore
import LoopWire

/// How often an event that cannot be decoded is looked into: a sender that sends nothing else must not keep the reducer busy.
struct ExplanationLimit {
    private var last: MonotonicTime?

    private static var interval: Duration { .seconds(1) }
    private static var bytesMax: Int { 16 << 10 }

    mutating func mayExplain(_ byteCount: Int, at now: MonotonicTime) -> Bool {
        guard byteCount <= Self.bytesMax, last.map({ now - $0 >= Self.interval }) ?? true else { return false }
        last = now
        return true
    }
}

/// What events, requests and states look like.
extension ReducerCore {
    /// How much of an explanation is logged, in characters.
    private static var explanationMax: Int { 500 }

    /// Tells people why bytes are no event, once a second at most.
    /// - Parameter schema: that of the bytes, where it is an older one.
    mutating func sayWhatIsWrong(with payload: ArraySlice<UInt8>, from schema: UInt64?, _ origin: EntryNumber) {
        guard explanations.mayExplain(payload.count, at: context.now.monotonic),
            let error = journaled.fold.explanation(of: Array(payload), from: schema).error
        else { return }
        turn.news.append(.undecodable(origin, String(error.prefix(Self.explanationMax))))
    }

    /// Answers what a sender asks of an event before it sends it.
    func explained(_ event: [UInt8]) -> AdministrationAnswer {
        guard event.count <= context.configuration.eventBytesMax else {
            return .explained(
                DecodingExplanation(
                    error:
                        "the event has \(event.count) bytes, and the limit is \(context.configuration.eventBytesMax)",
                    unknownKeys: []))
        }
        return .explained(journaled.fold.explanation(of: event, from: nil))
    }

    /// The definition's types, with requests of effects that live now.
    func schemaAnswer() -> AdministrationAnswer {
        do {
            var schema = try journaled.fold.schema()
            var examples: [String: EffectID] = [:]
            for (id, effect) in journaled.effects where effect.request.count > 0 {
                let name = journaled.feedbackName(of: id)
                if examples[name].map({ id < $0 }) ?? true { examples[name] = id }
            }
            for index in schema.requests.indices {
                let id = examples[schema.requests[index].feedback]
                schema.requests[index].example = id.flatMap { journaled.effects[$0]?.request.array }
            }
            return .schema(schema)
        } catch {
            return .refused("the initial state cannot be encoded: \(error)")
        }
    }
}
