import CBOR
import LoopCore
import LoopWire

/// How often an event that cannot be decoded is looked into: senders that send nothing else must not keep the reducer busy.
struct ExplanationLimit {
    /// When the present second began, and how many events were explained in it.
    private var second: (began: MonotonicTime, count: Int)?

    private static var interval: Duration { .seconds(1) }
    private static var countMax: Int { 16 }
    private static var bytesMax: Int { 16 << 10 }

    /// Whether an event may be explained now: its place among those of this second, from 0. Nil: there were too many, or it is too
    /// large.
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

/// What events, requests and states look like.
extension ReducerCore {
    /// Finds out why bytes are no event, for their sender and, once a second at most, for the log.
    /// - Parameter schema: that of the bytes, where it is an older one.
    /// - Returns: what is wrong; empty where that is not known, or where too many ask.
    mutating func whatIsWrong(
        with payload: ArraySlice<UInt8>, from schema: UInt64?, _ origin: EntryNumber
    ) -> String {
        guard let place = explanations.place(of: payload.count, at: context.now.monotonic),
            let error = journaled.fold.explanation(of: Array(payload), from: schema).error
        else { return "" }
        let detail = RefusalDetail.cut(error)
        if place == 0 { turn.news.append(.undecodable(origin, detail)) }
        return detail
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
