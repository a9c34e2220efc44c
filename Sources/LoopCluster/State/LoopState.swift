package import CBOR
package import LoopCollections
package import LoopCore
package import LoopWire

/// The part of the journaled state that has the definition's types: the state, and the memory of its queries.
///
/// A machine uses it without these types, so that the machine is compiled once. Code that is generic over a definition looks up
/// types at run time, at every event.
package protocol LoopState: Sendable {
    /// Decodes an event, reduces it, and advances the queries. If the event cannot be decoded, nothing has changed.
    /// - Parameter schema: the schema of the bytes, if it is an older one.
    /// - Throws: any error of decoding or migrating.
    mutating func apply(
        _ bytes: ArraySlice<UInt8>, from schema: UInt64?, _ step: LoopStep, into changes: inout [EffectChange]
    ) throws

    /// Reduces an event that is already decoded, and advances the queries.
    /// - Parameter event: an event of the definition.
    mutating func apply(decoded event: borrowing Lent, _ step: LoopStep, into changes: inout [EffectChange])

    /// The definition's answer to an event that has just been applied, from the present state.
    /// - Parameters:
    ///   - schema: the schema of the bytes, if it is an older one.
    ///   - bytesMax: the largest size of the encoded answer.
    ///   - note: the note in which this step is written.
    func answer(to bytes: ArraySlice<UInt8>, from schema: UInt64?, bytesMax: Int, _ note: CrashNote?) -> EntryAnswer

    /// Migrates an event of an older schema to the present one.
    func migrate(_ bytes: ArraySlice<UInt8>, from schema: UInt64) throws -> [UInt8]

    /// What is wrong with bytes that should be an event, and which keys in them are not read.
    /// - Parameter schema: the schema of the bytes, if it is an older one.
    func explanation(of event: [UInt8], from schema: UInt64?) -> DecodingExplanation

    /// The shapes of the definition's types.
    func schema() throws -> LoopSchema

    /// Whether the bytes are an event of the present schema.
    func canDecode(_ bytes: ArraySlice<UInt8>) -> Bool

    /// The state itself, in a box.
    var boxedState: any Sendable { get }

    func encodedState() throws -> [UInt8]

    /// Lends the encoded state, without a copy of it.
    func withEncodedState(_ body: (Span<UInt8>) -> Void) throws

    /// The encoded section of the state, by its position in the definition, or the whole state for nil.
    func encodedState(section: Int?) throws -> [UInt8]

    /// The chunks of a section, or of the whole state for nil.
    func chunks(section: Int?) throws -> StateChunks

    /// The present state, or a section of it, as the base of later deltas.
    func base(section: Int?) throws -> DeltaBase

    /// The delta from that base to the present state or section.
    func delta(since base: DeltaBase, section: Int?) throws -> [UInt8]

    /// The state without its queries.
    var resting: any LoopState { get }

    /// Continues from an encoded state.
    /// - Parameters:
    ///   - schema: the schema of the bytes, if it is an older one.
    ///   - time: the time of the last event before that state.
    mutating func restoreState(_ bytes: [UInt8], from schema: UInt64?, at time: WallTime) throws

    var outcome: Outcome? { get }
    var progress: Progress? { get }

    /// Starts the queries again, as feedbacks of these numbers.
    mutating func beginQueries(_ numbers: [UInt32])

    // These do what an evaluator's functions of the same names do.
    func memories() throws -> [UInt32: QueryMemory]
    mutating func restore(_ memories: [UInt32: QueryMemory]) throws
    mutating func adopt(_ memories: [UInt32: QueryMemory], into changes: inout [EffectChange])
    mutating func reconcile(seq: Seq, firstIndex: UInt32, into changes: inout [EffectChange])
}

/// The transition of one event, and the note in which its steps are written.
package struct LoopStep {
    let transition: Transition
    let note: CrashNote?
}

/// The state of a definition, and its queries.
///
/// `State` and `Event` are the definition's. As generic parameters they need not be looked up.
struct DefinedState<Definition: LoopDefinition, State, Event>: LoopState
where Definition.State == State, Definition.Event == Event {
    private var evaluator: Evaluator<State, Event>
    private let feedbacks: [Feedback<State, Event>]
    private let coder: any ValueCoder
    private let sections: [StateSection<State>]
    private var state: State
    private let definition: Definition

    init(_ definition: Definition, coder: any ValueCoder) {
        self.definition = definition
        self.coder = coder
        feedbacks = definition.allFeedbacks
        sections = definition.sections
        state = definition.initial
        evaluator = Evaluator(feedbacks: [])
    }

    // MARK: Events

    @inline(__always)
    mutating func apply(
        _ bytes: ArraySlice<UInt8>, from schema: UInt64?, _ step: LoopStep, into changes: inout [EffectChange]
    ) throws {
        var event = try Self.decode(bytes, from: schema, definition, coder)
        step.note?.step(.reducing)
        definition.reduce(into: &state, event, step.transition)
        evaluator.queries.advance(
            state: &state, event: &event, seq: step.transition.seq, into: &changes, mark: step.note?.queryMark)
        step.note?.endQueries()
    }

    @inline(__always)
    mutating func apply(decoded event: borrowing Lent, _ step: LoopStep, into changes: inout [EffectChange]) {
        step.note?.step(.reducing)
        event.read(as: Event.self) { definition.reduce(into: &state, $0, step.transition) }
        evaluator.queries.advance(
            state: &state, lent: event, seq: step.transition.seq, into: &changes, mark: step.note?.queryMark)
        step.note?.endQueries()
    }

    private static func decode(
        _ bytes: ArraySlice<UInt8>, from schema: UInt64?, _ definition: Definition, _ coder: any ValueCoder
    ) throws -> Event {
        guard let schema else { return try coder.decode(Event.self, from: bytes) }
        return try definition.migrateEvent(Encoded(Array(bytes), coder: coder), from: Int(clamping: schema))
    }

    func migrate(_ bytes: ArraySlice<UInt8>, from schema: UInt64) throws -> [UInt8] {
        try coder.encode(try Self.decode(bytes, from: schema, definition, coder))
    }

    func explanation(of event: [UInt8], from schema: UInt64?) -> DecodingExplanation {
        DefinitionTypes(definition, coder: coder).explanation(of: event, from: schema)
    }

    func schema() throws -> LoopSchema { try DefinitionTypes(definition, coder: coder).schema() }

    func canDecode(_ bytes: ArraySlice<UInt8>) -> Bool {
        (try? Self.decode(bytes, from: nil, definition, coder)) != nil
    }

    func answer(
        to bytes: ArraySlice<UInt8>, from schema: UInt64?, bytesMax: Int, _ note: CrashNote?
    ) -> EntryAnswer {
        guard let event = try? Self.decode(bytes, from: schema, definition, coder) else { return .missing(.undefined) }
        note?.step(.answering)
        guard let answer = definition.answer(to: event, in: state) else { return .missing(.undefined) }
        guard let encoded = try? coder.encode(answer) else { return .missing(.unencodable) }
        return encoded.count <= bytesMax ? .value(encoded) : .missing(.tooLarge)
    }

    // MARK: The state

    var boxedState: any Sendable { state }

    func encodedState() throws -> [UInt8] { try coder.encode(state) }

    func withEncodedState(_ body: (Span<UInt8>) -> Void) throws { try coder.withEncoding(of: state, body) }

    func encodedState(section: Int?) throws -> [UInt8] {
        guard let section else { return try coder.encode(state) }
        return try sections[section].reading.encoded(in: state, coder)
    }

    func chunks(section: Int?) throws -> StateChunks {
        let chunks =
            if let section { try sections[section].reading.chunks(of: state) } else { try StateChunks(of: state) }
        return try chunks ?? StateChunks(whole: encodedState(section: section))
    }

    func base(section: Int?) throws -> DeltaBase {
        guard let section else { return try DeltaBase(of: state) }
        return try sections[section].reading.base(in: state)
    }

    func delta(since base: DeltaBase, section: Int?) throws -> [UInt8] {
        guard let section else { return try Delta.encode(since: base, to: state) }
        return try sections[section].reading.delta(since: base, in: state)
    }

    var resting: any LoopState {
        var copy = self
        copy.evaluator = Evaluator(feedbacks: [])
        return copy
    }

    mutating func restoreState(_ bytes: [UInt8], from schema: UInt64?, at time: WallTime) throws {
        guard let schema else {
            state = try coder.decode(State.self, from: bytes)
            return
        }
        state = try definition.migrateState(Encoded(bytes, coder: coder), from: Int(clamping: schema), at: time)
    }

    var outcome: Outcome? { definition.outcome(of: state) }

    var progress: Progress? { definition.progress(of: state) }

    // MARK: The queries

    mutating func beginQueries(_ numbers: [UInt32]) {
        evaluator = Evaluator(feedbacks: feedbacks, numbers: numbers, coder: coder)
    }

    func memories() throws -> [UInt32: QueryMemory] { try evaluator.memory(coder) }

    mutating func restore(_ memories: [UInt32: QueryMemory]) throws {
        try evaluator.restore(memories, state: state, coder: coder)
    }

    mutating func adopt(_ memories: [UInt32: QueryMemory], into changes: inout [EffectChange]) {
        evaluator.adopt(memories, coder: coder, into: &changes)
    }

    mutating func reconcile(seq: Seq, firstIndex: UInt32, into changes: inout [EffectChange]) {
        evaluator.reconcile(state: state, seq: seq, firstIndex: firstIndex, into: &changes)
    }
}

extension SectionReading {
    fileprivate func encoded(in state: State, _ coder: any ValueCoder) throws -> [UInt8] {
        try coder.encode(value(in: state))
    }

    fileprivate func chunks(of state: State) throws -> StateChunks? { try StateChunks(of: value(in: state)) }

    fileprivate func base(in state: State) throws -> DeltaBase { try DeltaBase(of: value(in: state)) }

    fileprivate func delta(since base: DeltaBase, in state: State) throws -> [UInt8] {
        try Delta.encode(since: base, to: value(in: state))
    }
}
