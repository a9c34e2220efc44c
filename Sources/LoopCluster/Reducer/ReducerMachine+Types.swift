import CBOR
import LoopCore
import LoopWire

/// A limit on explanations of events that cannot be decoded, so that bad senders do not keep the reducer busy.
struct ExplanationLimit {
    /// The start of the present second, and how many events were explained in it.
    private var second: (began: MonotonicTime, count: Int)?

    private static var interval: Duration { .seconds(1) }
    private static var countMax: Int { 16 }
    private static var bytesMax: Int { 16 << 10 }

    /// Counts an explanation if it may be made now. Returns its index among those of this second, from 0, or nil if there were
    /// too many or the event is too large.
    mutating func place(of byteCount: Int, at now: MonotonicTime) -> Int? {
        guard byteCount <= Self.bytesMax else { return nil }
        guard let present = second, now - present.began < Self.interval else {
            second = (now, 1)
            return 0
        }
        guard present.count < Self.countMax else { return nil }
        second = (present.began, present.count + 1)
        return present.count
    }
}

/// The explanation of events, and the schema of the definition's types.
extension ReducerMachine {
    /// Finds out why bytes are no event, for their sender and, at most once a second, for the log.
    /// - Parameter schema: the schema of the bytes, if it is an older one.
    /// - Returns: what is wrong; empty if that is not known, or if there were too many explanations.
    mutating func whatIsWrong(
        with payload: ArraySlice<UInt8>, from schema: UInt64?, _ origin: EntryNumber
    ) -> String {
        guard let place = explanations.place(of: payload.count, at: context.now.monotonic),
            let error = journaled.loopState.explanation(of: Array(payload), from: schema).error
        else { return "" }
        let detail = RefusalDetail.cut(error)
        if place == 0 { turn.news.append(.undecodable(origin, detail)) }
        return detail
    }

    /// Explains an event to a sender that asks before it sends it.
    func explained(_ event: [UInt8]) -> AdministrationAnswer {
        guard event.count <= context.configuration.eventBytesMax else {
            return .explained(
                DecodingExplanation(
                    error:
                        "the event has \(event.count) bytes, and the limit is \(context.configuration.eventBytesMax)",
                    unknownKeys: []))
        }
        return .explained(journaled.loopState.explanation(of: event, from: nil))
    }

    /// The schema of the definition's types, with requests of live effects as examples.
    func schemaAnswer() -> AdministrationAnswer {
        do {
            var schema = try journaled.loopState.schema()
            var examples: [String: EffectID] = [:]
            for (id, effect) in journaled.effects where effect.request.count > 0 {
                let name = journaled.feedbackName(of: id)
                if examples[name].map({ id < $0 }) ?? true { examples[name] = id }
            }
            for index in schema.requests.indices {
                let id = examples[schema.requests[index].feedback]
                schema.requests[index].example = id.flatMap { journaled.effects[$0]?.request }
            }
            return .schema(schema)
        } catch {
            return .refused("the initial state cannot be encoded: \(error)")
        }
    }
}
