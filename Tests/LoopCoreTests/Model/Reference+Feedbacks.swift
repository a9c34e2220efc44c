import LoopCore

/// What each form of feedback asks for.
extension Reference {
    enum Wish {
        case start(EffectID, String)
        case update(EffectID, String)
        case cancel(EffectID)
    }

    /// 32, 36: a feedback of a part sees the part and its own events; its absence cancels, its return starts again
    /// without an event (14).
    mutating func ask(_ feedback: Int, _ event: Put?) -> [Wish] {
        let made = made.feedbacks[feedback]
        guard let part = made.project(seen.state) else {
            memories[feedback].isAttached = false
            return follow(feedback, [:], renews: false)
        }
        let wasAttached = memories[feedback].isAttached
        memories[feedback].isAttached = true
        let event = wasAttached ? event.flatMap { made.localize($0) } : nil
        if made.form == .custom {
            // 13, 14, 15.
            if !wasAttached { seen.pairs[feedback, default: []].append([]) }
            let last = seen.pairs[feedback]!.count - 1
            seen.pairs[feedback]![last].append("\(part) \(event.map { "\($0)" } ?? "-")")
        }
        switch made.form {
        case .custom, .input: return []
        // 27: does not depend on the state.
        case .source: return follow(feedback, ["": "source"], renews: false)
        // 20: every state with a value.
        case .lensing(let lens): return follow(feedback, one(lens.value(part)), renews: true)
        case .everyState: return follow(feedback, one(part), renews: true)
        case .whileTrue(let lens): return follow(feedback, one(part.isTrue(lens) ? part : nil), renews: true)
        // 19: only another value.
        case .skippingRepeated(let lens):
            return follow(feedback, one(lens.value(part)), renews: memories[feedback].asks(for: lens.value(part)))
        // 21: the rising edge.
        case .firstValueAfterNil(let lens): return follow(feedback, one(lens.value(part)), renews: false)
        case .whenBecomesTrue(let lens):
            return follow(feedback, one(part.isTrue(lens) ? part : nil), renews: false)
        // 24.
        case .each:
            let keys = (0...2).filter { part[$0] != 0 }.map { ("\($0)", "\(part[$0])") }
            return follow(feedback, Dictionary(uniqueKeysWithValues: keys), renews: false)
        case .set:
            let values = Set((0...2).map { part[$0] }).subtracting([0]).map { ("\($0)", "\($0)") }
            return follow(feedback, Dictionary(uniqueKeysWithValues: values), renews: false)
        // 22, 23: events; where there is none, nothing happens.
        case .extracting(let cell):
            return event.map { follow(feedback, one($0.payload(cell)), renews: true) } ?? []
        case .skippingRepeatedEvents(let cell):
            guard let event else { return [] }
            return follow(
                feedback, one(event.payload(cell)), renews: memories[feedback].asks(for: event.payload(cell)))
        case .extractingAndKeeping(let cell):
            return (event?.payload(cell)).map { follow(feedback, one($0), renews: true) } ?? []
        case .skippingRepeatedEventsAndKeeping(let cell):
            guard let payload = event?.payload(cell) else { return [] }
            return follow(feedback, one(payload), renews: memories[feedback].asks(for: payload))
        case .middleware:
            return event.map { follow(feedback, one("\(part) \($0)"), renews: true) } ?? []
        }
    }

    private func one(_ request: (some Any)?) -> [String: String] { request.map { ["": "\($0)"] } ?? [:] }

    /// 17, 18, 24: what is not wanted any more is cancelled, then what remains gets its new request, then what is new
    /// starts.
    /// - Parameter renews: what is wanted again is a new effect.
    private mutating func follow(_ feedback: Int, _ wanted: [String: String], renews: Bool) -> [Wish] {
        var wishes: [Wish] = []
        var memory = memories[feedback]
        let isKeyed = [.each, .set].contains(made.feedbacks[feedback].form)
        for (key, asked) in memory.asked.sorted(by: { $0.value.id < $1.value.id }) where wanted[key] == nil || renews {
            wishes.append(.cancel(asked.id))
            memory.asked[key] = nil
        }
        for (key, asked) in memory.asked.sorted(by: { $0.value.id < $1.value.id }) {
            guard isKeyed, let request = wanted[key], request != asked.request else { continue }
            wishes.append(.update(asked.id, request))
            memory.asked[key]?.request = request
        }
        var index: UInt32 = 0
        for (key, request) in wanted.sorted(by: { $0.key < $1.key }) where memory.asked[key] == nil {
            let id = EffectID(feedback: UInt32(feedback), seq: Seq(UInt64(seq)), index: index)
            index += 1
            memory.asked[key] = (id, request)
            wishes.append(.start(id, request))
        }
        memories[feedback] = memory
        for wish in wishes { seen.trace.append(wish.text) }
        return wishes
    }
}

extension Reference.Memory {
    /// Whether the request is another one than the last.
    fileprivate func asks(for request: Int?) -> Bool { asked[""]?.request != request.map { "\($0)" } }
}

extension Reference.Wish {
    fileprivate var text: String {
        switch self {
        case .start(let id, let request): "start \(id): \(request)"
        case .update(let id, let request): "update \(id): \(request)"
        case .cancel(let id): "cancel \(id)"
        }
    }
}
