package import LoopCore
package import LoopWire

/// What a machine uses of a definition besides its state: names, versions, feedbacks. Nothing here has the definition's types.
package final class LoopFacts: Sendable {
    package let name: String
    /// The name as a part of topics.
    let id: LoopID
    package let schema: UInt64
    package let oldestSchema: UInt64
    package let fingerprint: DefinitionFingerprint
    /// A hash of the encoded initial state.
    package let initialHash: UInt64
    /// The feedbacks in the order of their declaration, which is not the order of their numbers.
    package let feedbacks: [FeedbackFacts]
    /// The sections of the state that can be followed alone, in the order of their declaration.
    package let sections: [(name: String, id: SectionID)]
    package let coder: any ValueCoder

    init<Definition: LoopDefinition>(_ definition: Definition, coder: any ValueCoder) {
        name = Definition.name
        id = LoopID(name: Definition.name)
        schema = UInt64(Definition.schema)
        oldestSchema = UInt64(Definition.oldestSchema)
        fingerprint = DefinitionFingerprint(of: definition)
        initialHash = StableHash.fnv1a((try? coder.encode(definition.initial)) ?? [])
        feedbacks = definition.allFeedbacks.map { FeedbackFacts($0, coder) }
        sections = definition.sections.map { ($0.name, SectionID(name: $0.name)) }
        self.coder = coder
    }
}

/// What a machine uses of a feedback.
package final class FeedbackFacts: Sendable {
    package let name: String
    /// The group whose members run its effects.
    package let placement: String
    package let policy: EffectPolicy
    /// Whether it has effects that a machine manages.
    let hasQuery: Bool
    /// The group whose limits apply to an effect, by its request.
    let group: (@Sendable (any Sendable) -> String)?
    /// The priority of a request, or nil if all effects have the same one.
    private let priority: (@Sendable (any Sendable) -> Int32)?
    let requestCoding: RequestCoding?
    /// The times and events of its timers, or nil if it has none.
    let timer: TimerFacts?
    /// Makes the event for an effect that has failed for good, or nil if such an effect is parked.
    let failing: FailingFacts?
    /// The times and events of its schedule, or nil if it has none.
    let schedule: ScheduleFacts?
    private let coder: any ValueCoder

    init<State, Event: Encodable>(_ feedback: Feedback<State, Event>, _ coder: any ValueCoder) {
        self.coder = coder
        name = feedback.name
        placement = feedback.placement.group
        policy = feedback.policy
        hasQuery = feedback.makeQuery != nil
        group = feedback.group
        priority = feedback.priority
        requestCoding = feedback.requestCoding
        timer = feedback.timer.map { TimerFacts($0, coder) }
        failing = FailingFacts(feedback, coder)
        schedule = feedback.schedule.map { ScheduleFacts($0, coder) }
    }

    /// The priority of an effect, by the bytes of its request, or 0 if they cannot be read.
    func priority(of request: [UInt8]) -> Int32 {
        guard let priority, let known = try? requestCoding?.decode(request, coder) else { return 0 }
        return priority(known)
    }

    /// Whether its effects have a priority.
    var hasPriority: Bool { priority != nil }

    /// A request's bytes, or nil if its type cannot cross a process, its encoding fails, or it is too large.
    func encode(_ request: any Sendable) -> [UInt8]? {
        var encoded: [UInt8]?
        try? requestCoding?.withEncoding(request, coder) { bytes in
            if bytes.count <= Wire.requestBytesMax { encoded = Array(bytes) }
        }
        return encoded
    }
}

/// What the reducer uses of a schedule.
package struct ScheduleFacts: Sendable {
    let schedule: Schedule
    let missed: MissedRuns
    /// Makes the encoded event of a run, or returns nil if it cannot be encoded.
    let event: @Sendable (ScheduleRun) -> [UInt8]?

    init<Event: Encodable>(_ schedule: FeedbackSchedule<Event>, _ coder: any ValueCoder) {
        self.schedule = schedule.schedule
        missed = schedule.missed
        event = { try? coder.encode(schedule.event($0)) }
    }
}

/// What the reducer uses of a feedback when an effect has failed for good.
package struct FailingFacts: Sendable {
    /// Makes the encoded event for an encoded request and a failure, or returns nil if the feedback makes no event of this failure.
    let event: @Sendable ([UInt8], EffectFailure) throws(NoFailingEvent) -> [UInt8]?

    init?<State, Event: Encodable>(_ feedback: Feedback<State, Event>, _ coder: any ValueCoder) {
        guard let failing = feedback.failureEvent, let coding = feedback.requestCoding else { return nil }
        event = { bytes, failure throws(NoFailingEvent) in
            let request: any Sendable
            do { request = try coding.decode(bytes, coder) } catch {
                throw NoFailingEvent(reason: "its request cannot be decoded for its failing event: \(error)")
            }
            guard let made = failing(request, failure) else { return nil }
            do { return try coder.encode(made) } catch {
                throw NoFailingEvent(reason: "its failing event cannot be encoded: \(error)")
            }
        }
    }
}

/// What the reducer uses of a feedback's timers.
package struct TimerFacts: Sendable {
    /// The due time of an encoded request, or nil if it cannot be read.
    let time: @Sendable ([UInt8]) -> WallTime?
    /// The encoded event of an encoded request, or nil if it cannot be made.
    let event: @Sendable ([UInt8]) -> [UInt8]?

    init<State, Event: Encodable>(_ timer: FeedbackTimer<State, Event>, _ coder: any ValueCoder) {
        time = { try? timer.encodedTime($0.span, coder) }
        event = { try? coder.encode(timer.encodedEvent($0.span, coder)) }
    }

    /// Whether a timer that has fired is requested for another time.
    func isMoved(_ effect: LiveEffect, to request: [UInt8]) -> Bool {
        effect.status == .completed && time(effect.request) != time(request)
    }
}

/// What a local and a remote definition must have in common: the feedbacks and their placements.
package struct DefinitionFingerprint: Equatable, Sendable {
    /// The 64-bit FNV-1a hash of the name, the schema and the lines of `feedbacks`.
    package let value: UInt64
    /// One line for each feedback, "name@placement", in the definition's order. The order does not change `value`.
    package let feedbacks: [String]

    /// Computes the fingerprint of a definition.
    package init<Definition: LoopDefinition>(of definition: Definition) {
        feedbacks = definition.allFeedbacks.map { "\($0.name)@\($0.placement)" }
        let sorted = feedbacks.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        let lines = ["\(Definition.name)#\(Definition.schema)"] + sorted
        value = StableHash.fnv1a(lines.joined(separator: "\n").utf8)
    }
}

/// The feedbacks of a definition, by the numbers that a journal has given to their names.
///
/// A name gets the next number when a definition first has it, and keeps it for the life of the journal. No other name ever
/// gets the number, so that an effect's ID always means the same feedback.
package struct FeedbackTable: Sendable {
    /// All names that there ever were, by number.
    package let names: [String]
    /// The numbers of the definition's feedbacks, in the order of their declaration.
    package let numbers: [UInt32]
    private let feedbacks: [FeedbackFacts?]

    /// - Parameters:
    ///   - names: the names that the journal knows, by number.
    ///   - declared: the definition's feedbacks. Those with new names get the next numbers.
    package init(names: [String], declared: [FeedbackFacts]) {
        var names = names
        var numbers: [String: UInt32] = [:]
        for (number, name) in names.enumerated() where numbers[name] == nil { numbers[name] = UInt32(number) }
        for feedback in declared where numbers[feedback.name] == nil {
            numbers[feedback.name] = UInt32(names.count)
            names.append(feedback.name)
        }
        var feedbacks: [FeedbackFacts?] = Array(repeating: nil, count: names.count)
        for feedback in declared {
            if let number = numbers[feedback.name] { feedbacks[Int(number)] = feedback }
        }
        self.names = names
        self.numbers = declared.map { numbers[$0.name] ?? 0 }
        self.feedbacks = feedbacks
    }

    /// The definition's feedback of this number, or nil if the definition has none, or no longer.
    package subscript(number: UInt32) -> FeedbackFacts? {
        number < feedbacks.count ? feedbacks[Int(number)] : nil
    }

    /// The group whose members run the feedback's effects, or "" if the definition no longer has it.
    func group(_ number: UInt32) -> String { self[number]?.placement ?? "" }

    /// The policies of the definition's feedbacks, by number.
    var policies: [UInt32: EffectPolicy] {
        var policies: [UInt32: EffectPolicy] = [:]
        for number in numbers { policies[number] = self[number]?.policy }
        return policies
    }
}
