public import LoopCore
package import LoopWire

/// Everything the journal determines, and nothing else: the state, the evaluator, the live effects, the sessions.
///
/// The reducer machine changes it only through records, live and at replay alike; so a replay ends where it was (G8).
package struct JournaledState<Definition: LoopDefinition>: Sendable {
    package let definition: Definition
    package let coder: any ValueCoder
    package let feedbacks: [Feedback<Definition.State, Definition.Event>]
    package private(set) var history: History
    package private(set) var epoch = Epoch.none
    package private(set) var state: Definition.State
    package private(set) var seq = Seq.initial
    package private(set) var time = WallTime(milliseconds: 0)
    package private(set) var effects: [EffectID: LiveEffect] = [:]
    package private(set) var sessions: [SessionID: SessionRecord] = [:]
    package private(set) var sessionByPeer: [PeerID: SessionID] = [:]
    package private(set) var nextSession = SessionID(1)
    /// Entries that were set aside, by their number.
    package private(set) var quarantine: [UInt64: QuarantineRecord] = [:]
    package private(set) var quarantinedCount: UInt64 = 0
    /// The position of the last record applied.
    package private(set) var position: UInt64 = 0
    /// A hash of the encoded initial state.
    package let initialHash: UInt64
    /// Where each step is noted, should it be the last one; nil in a state that is only looked at.
    package var note: CrashNote?
    private var evaluator: Evaluator<Definition.State, Definition.Event>
    private var changes: [EffectChange] = []

    package init(definition: Definition, coder: any ValueCoder, history: History) {
        self.definition = definition
        self.coder = coder
        self.history = history
        feedbacks = definition.feedbacks
        state = definition.initial
        initialHash = StableHash.fnv1a((try? coder.encode(state)) ?? [])
        evaluator = Evaluator(feedbacks: feedbacks, coder: coder)
        evaluator.advance(state: state, event: nil, seq: seq, into: &changes)
        _ = takeChanges()
    }

    /// Applies one record.
    /// - Parameter event: the decoded event of an event record, where the caller has it already.
    /// - Returns: what the transition changed among the live effects, in order.
    /// - Throws: what decoding the event's bytes throws, at replay.
    @discardableResult
    package mutating func apply(_ record: Record, event: Definition.Event? = nil) throws -> [LiveChange] {
        position += 1
        switch record {
        case .event(let record):
            let event = try event ?? coder.decode(Definition.Event.self, from: Array(record.bytes))
            consume(record.session, record.number, notable: record.wantsSeq ? .applied(record.seq) : nil)
            return reduce(event, record)
        case .refused(let record):
            consume(record.session, record.number, notable: .refused(record.reason))
            if let effect = record.effect { void(effect, upTo: record.attempt) }
        case .completed(let session, let number, let effect, _):
            consume(session, number, notable: nil)
            effects[effect]?.status = .completed
        case .skipped(let session, let number):
            consume(session, number, notable: nil)
        case .attemptEnded(let end):
            if let entry = end.entry { consume(entry.session, entry.number, notable: nil) }
            finish(end)
        case .sessionOpened(let session, let peer):
            sessions[session] = SessionRecord(peer: peer)
            sessionByPeer[peer] = session
            nextSession = SessionID(session.value + 1)
        case .sessionRetired(let session):
            if let record = sessions.removeValue(forKey: session), sessionByPeer[record.peer] == session {
                sessionByPeer[record.peer] = nil
            }
        case .epochBegun(let epoch, let time):
            self.epoch = epoch
            self.time = max(self.time, time)
        case .definition:
            break
        case .stateHash(let seq, let hash):
            let found = digest().hash
            guard found == hash else { throw ReplayDifference(seq: seq, journaled: hash, replayed: found) }
        case .quarantined(let record):
            consume(record.session, record.number, notable: .refused(.quarantined))
            quarantine[record.id] = record
            quarantinedCount = max(quarantinedCount, record.id)
        case .operatorAction(let action):
            apply(action)
        case .historyBegun(let history, let time):
            self.history = history
            self.time = max(self.time, time)
            sessions = [:]
            sessionByPeer = [:]
            for effect in effects.keys { void(effect, upTo: Attempt(epoch: epoch.number, count: .max)) }
        }
        return []
    }

    private mutating func apply(_ action: OperatorAction) {
        switch action.what {
        case .retryParked(let effect):
            guard case .parked = effects[effect]?.status else { return }
            effects[effect]?.status = .open
            effects[effect]?.failures = 0
            effects[effect]?.retryAt = nil
        case .retryQuarantined(let id), .dropQuarantined(let id):
            quarantine[id] = nil
        }
    }

    /// A record that was made from this very state, and changes nothing: counted without being applied.
    package mutating func countStateHash() { position += 1 }

    /// A hash of the state, the live effects and the sessions, the same in every process that applied the same records.
    /// - Returns: the hash, and how many bytes of state it is of.
    package func digest() -> (hash: UInt64, bytes: Int) {
        let state = (try? coder.encode(state)) ?? []
        var writer = ByteWriter()
        writer.u64(seq.value)
        writer.u64(nextSession.value)
        for (id, effect) in effects.sorted(by: { $0.key < $1.key }) {
            writer.effect(id)
            writer.attempt(effect.floor)
            writer.u64(effect.version.value)
            writer.u32(effect.failures)
            writer.u64(UInt64(bitPattern: effect.retryAt?.milliseconds ?? 0))
            writer.prefixed(effect.request[...])
            switch effect.status {
            case .open: writer.u8(1)
            case .completed: writer.u8(2)
            case .parked: writer.u8(3)
            }
        }
        for (id, session) in sessions.sorted(by: { $0.key < $1.key }) {
            writer.u64(id.value)
            writer.u64(session.watermark)
        }
        let hash = StableHash.fnv1a(writer.bytes, seed: StableHash.fnv1a(state))
        return (hash, state.count + writer.count)
    }

    /// Forgets outcomes that their sender knows. Not journaled: after a replay there are more of them, never fewer.
    package mutating func forgetOutcomes(of session: SessionID, upTo settled: UInt64) {
        sessions[session]?.forget(upTo: settled)
    }

    /// Marks an attempt as void without a record: what a machine that breaks the rule does.
    package mutating func voidWithoutRecord(_ effect: EffectID, upTo attempt: Attempt) { void(effect, upTo: attempt) }

    /// Consumes an entry without a record: what a machine that breaks the rule does.
    package mutating func consumeWithoutRecord(_ session: SessionID, _ number: UInt64, _ outcome: EntryOutcome) {
        consume(session, number, notable: outcome)
    }

    private mutating func consume(_ session: SessionID, _ number: UInt64, notable: EntryOutcome?) {
        sessions[session]?.consume(number, notable: notable)
    }

    private mutating func reduce(_ event: Definition.Event, _ record: EventRecord) -> [LiveChange] {
        seq = record.seq
        time = record.time
        note?.step(.reducing)
        definition.reduce(&state, event, Transition(seq: seq, time: time, seed: history.value))
        note?.step(.query)
        evaluator.advance(state: state, event: event, seq: seq, into: &changes)
        return changes.isEmpty ? [] : takeChanges()
    }

    private mutating func takeChanges() -> [LiveChange] {
        var live: [LiveChange] = []
        live.reserveCapacity(changes.count)
        for change in changes {
            switch change {
            case .start(let id, let request):
                effects[id] = LiveEffect(
                    request: encode(request, of: id), version: seq,
                    group: feedbacks[Int(id.feedback)].group?(request))
                live.append(.started(id))
            case .update(let id, let request):
                guard let bytes = encode(request, of: id) else {
                    effects[id]?.status = .parked(LiveEffect.unsendable)
                    live.append(.cancelled(id))
                    continue
                }
                effects[id]?.request = bytes
                effects[id]?.version = seq
                live.append(.updated(id))
            case .cancel(let id):
                effects[id] = nil
                live.append(.cancelled(id))
            }
        }
        changes.removeAll(keepingCapacity: true)
        return live
    }

    /// The request's bytes, or nil where its type cannot cross a process, its encoding fails, or it is too large.
    private func encode(_ request: any Sendable, of id: EffectID) -> [UInt8]? {
        guard let bytes = try? feedbacks[Int(id.feedback)].requestCoding?.encode(request, coder),
            bytes.count <= Wire.requestBytesMax
        else { return nil }
        return bytes
    }

    private mutating func void(_ effect: EffectID, upTo attempt: Attempt) {
        guard let floor = effects[effect]?.floor, attempt > floor else { return }
        effects[effect]?.floor = attempt
    }

    private mutating func finish(_ end: AttemptEnd) {
        void(end.effect, upTo: end.upTo)
        if end.cause == .failed || end.cause == .timedOut { effects[end.effect]?.failures += 1 }
        switch end.next {
        case .retry(let time): effects[end.effect]?.retryAt = time
        case .parked: effects[end.effect]?.status = .parked(end.message)
        }
    }
}

/// One effect that the state wants.
package struct LiveEffect: Equatable, Sendable {
    package enum Status: Equatable, Sendable {
        /// To be run, or running.
        case open
        /// Its body returned; it is not run again while it is wanted.
        case completed
        /// It failed for good, with this message.
        case parked(String)
    }

    package var request: [UInt8]
    /// The seq that made the request.
    package var version: Seq
    /// The group whose limits it counts against.
    package let group: String?
    package var status: Status
    /// Attempts up to this one are void.
    package var floor = Attempt.none
    package var failures: UInt32 = 0
    package var retryAt: WallTime?

    init(request: [UInt8]?, version: Seq, group: String?) {
        self.request = request ?? []
        self.version = version
        self.group = group
        status = request == nil ? .parked(Self.unsendable) : .open
    }

    static let unsendable = "its request cannot be encoded, or is larger than \(Wire.requestBytesMax) bytes"
}

/// What a transition changed among the live effects.
package enum LiveChange: Equatable, Sendable {
    case started(EffectID)
    case updated(EffectID)
    case cancelled(EffectID)
}

/// What the journal knows of a session: how far it was consumed, and what its sender must be told in particular.
package struct SessionRecord: Equatable, Sendable {
    package let peer: PeerID
    /// Every entry up to this number is consumed: applied or refused.
    package private(set) var watermark: UInt64 = 0
    package private(set) var notable: [NotableOutcome] = []

    init(peer: PeerID) { self.peer = peer }

    mutating func consume(_ number: UInt64, notable outcome: EntryOutcome?) {
        watermark = number
        if let outcome { notable.append(NotableOutcome(number: number, outcome: outcome)) }
    }

    mutating func forget(upTo settled: UInt64) {
        guard let first = notable.first, first.number <= settled else { return }
        notable.removeAll { $0.number <= settled }
    }

    package func notable(after number: UInt64) -> [NotableOutcome] {
        guard let last = notable.last, last.number > number else { return [] }
        return notable.filter { $0.number > number }
    }
}

/// A replay came to another state than the journal says: the reducer is not a function of its arguments, or it is not the
/// one that wrote the journal.
public struct ReplayDifference: Error, Equatable, Sendable {
    public var seq: Seq
    public var journaled: UInt64
    public var replayed: UInt64
}
