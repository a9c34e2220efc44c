package import CBOR
import LoopCore

/// A message of a peer to the reducer over DEALER → ROUTER. Batches of entries use PUSH → PULL instead.
///
/// Every message begins with: protocol (2), loop ID u64, shard u16, verb u8. The verbs and their bodies:
///
/// | verb | message | body |
/// |---|---|---|
/// | 1 | hello | loop name, schema u64 |
/// | 2 | join | `JoinRequest` |
/// | 3 | claim | session u64, epoch, `ClaimPart` |
/// | 4 | heartbeat | `Heartbeat` |
/// | 5 | assignments? | session u64, epoch |
/// | 6 | outcomes? | session u64, after u64 |
/// | 7 | state? | transfer u64, part u64, form u8, section's name, follows deltas u8, their interval u32 (only then) |
/// | 8 | goodbye | session u64, peer, history u64 |
/// | 9 | status? | nothing |
/// | 10 | administration | request u64, an `AdministrationRequest` as CBOR: count u32, bytes |
/// | 11 | reserved | |
/// | 12 | progress | session u64, epoch, reports: count u32, `AttemptProgress`… |
package enum ToReducer: Equatable, Sendable {
    /// The first message to the reducer's published address. It requests the loop and the addresses of the other sockets.
    case hello(name: String, schema: UInt64)
    /// A request to be admitted. The answer comes through the inbox, or as `refused` or `busy` over ROUTER.
    case join(JoinRequest)
    /// All attempts that run or have entries in the outbox, or a part of them.
    case claim(SessionID, Epoch, ClaimPart)
    /// The peer's sign of life, which renews its lease and opens its inbox's window.
    case heartbeat(Heartbeat)
    /// A request for the whole assignment, after a gap in the inbox.
    case assignmentsRequest(SessionID, Epoch)
    /// A request for the outcomes of the entries after a number.
    case outcomesRequest(SessionID, after: UInt64)
    /// A request for a part of the encoded state, or of a section of it. Transfer 0 begins a new transfer. A follower of
    /// deltas names its stream by `deltas`, the interval in milliseconds, and gets the base of the next delta.
    case stateRequest(
        transfer: UInt64, part: UInt64, form: StateForm = .whole, section: String = "", deltas: UInt32? = nil)
    /// Ends the session of this peer in this history; its outbox is empty. Answered by ``ToPeer/goodbyeHeard``.
    case goodbye(SessionID, PeerID, History)
    /// A request for a ``StatusReport``. The answer proves that events are being committed and read.
    case statusRequest
    /// An operator's request: an encoded ``AdministrationRequest``. The answer has the same number.
    case administration(request: UInt64, ArraySlice<UInt8>)
    /// How far the attempts that run here have come, for people. Neither repeated nor answered.
    case progress(SessionID, Epoch, [AttemptProgress])

    /// The number of this kind of message on the wire, from 1.
    var verb: UInt8 {
        switch self {
        case .hello: 1
        case .join: 2
        case .claim: 3
        case .heartbeat: 4
        case .assignmentsRequest: 5
        case .outcomesRequest: 6
        case .stateRequest: 7
        case .goodbye: 8
        case .statusRequest: 9
        case .administration: 10
        case .progress: 12
        }
    }

    /// The whole frame.
    /// - Parameter loop: the sender's loop. A tool that knows none uses the value 0, and may request the status and administration.
    package func bytes(loop: LoopID) -> [UInt8] {
        var writer = ByteWriter()
        writer.protocolVersion()
        writer.u64(loop.value)
        writer.u16(Wire.shard)
        writer.u8(verb)
        switch self {
        case .hello(let name, let schema):
            writer.string(name)
            writer.u64(schema)
        case .join(let joinRequest):
            joinRequest.write(to: &writer)
        case .claim(let session, let epoch, let part):
            writer.u64(session.value)
            writer.epoch(epoch)
            part.write(to: &writer)
        case .heartbeat(let heartbeat):
            heartbeat.write(to: &writer)
        case .assignmentsRequest(let session, let epoch):
            writer.u64(session.value)
            writer.epoch(epoch)
        case .outcomesRequest(let session, let after):
            writer.u64(session.value)
            writer.u64(after)
        case .stateRequest(let transfer, let part, let form, let section, let deltas):
            writer.u64(transfer)
            writer.u64(part)
            writer.u8(form.rawValue)
            writer.string(section)
            writer.u8(deltas == nil ? 0 : 1)
            if let deltas { writer.u32(deltas) }
        case .goodbye(let session, let peer, let history):
            writer.u64(session.value)
            writer.peer(peer)
            writer.u64(history.value)
        case .statusRequest: break
        case .administration(let request, let document):
            writer.u64(request)
            writer.prefixed(document)
        case .progress(let session, let epoch, let reports):
            writer.u64(session.value)
            writer.epoch(epoch)
            writer.u32(UInt32(reports.count))
            for report in reports { report.write(to: &writer) }
        }
        return writer.bytes
    }

    /// Reads a whole frame.
    /// - Parameters:
    ///   - bytes: the frame.
    ///   - loop: this node's loop. A hello for another loop is accepted, so that it can be refused by name. Requests for
    ///     the status and of operators are accepted too.
    /// - Throws: `WireError` if the frame is truncated, too long or malformed, of another protocol version or shard, or for
    ///   another loop.
    package init(bytes: ArraySlice<UInt8>, loop: LoopID) throws(WireError) {
        var reader = ByteReader(bytes)
        try reader.protocolVersion()
        let id = LoopID(value: try reader.u64())
        try reader.shard()
        let verb = try reader.u8()
        guard id == loop || verb == 1 || verb == 9 || verb == 10 else {
            throw .malformed(what: "loop \(id), this is \(loop)", offset: 2)
        }
        switch verb {
        case 1: self = .hello(name: try reader.string(bytesMax: Wire.nameBytesMax), schema: try reader.u64())
        case 2: self = .join(try JoinRequest(from: &reader))
        case 3: self = .claim(SessionID(try reader.u64()), try reader.epoch(), try ClaimPart(from: &reader))
        case 4: self = .heartbeat(try Heartbeat(from: &reader))
        case 5: self = .assignmentsRequest(SessionID(try reader.u64()), try reader.epoch())
        case 6: self = .outcomesRequest(SessionID(try reader.u64()), after: try reader.u64())
        case 7:
            self = .stateRequest(
                transfer: try reader.u64(), part: try reader.u64(), form: try StateForm(from: &reader),
                section: try reader.string(bytesMax: Wire.nameBytesMax),
                deltas: try reader.flag() ? try reader.u32() : nil)
        case 8: self = .goodbye(SessionID(try reader.u64()), try reader.peer(), History(try reader.u64()))
        case 9: self = .statusRequest
        case 10: self = .administration(request: try reader.u64(), try reader.prefixed())
        case 12:
            let (session, epoch) = (SessionID(try reader.u64()), try reader.epoch())
            var reports: [AttemptProgress] = []
            for _ in 0..<(try reader.count(bytesEach: AttemptProgress.bytesMin)) {
                reports.append(try AttemptProgress(from: &reader))
            }
            self = .progress(session, epoch, reports)
        default: throw .malformed(what: "verb \(verb)", offset: 12)
        }
        try reader.end()
    }
}

/// How a fetched state is encoded. The raw values are on the wire.
package enum StateForm: UInt8, Sendable {
    /// As one chunk.
    case whole = 0
    /// As chunks: a manifest, then the entries of the tracked dictionaries, some at a time.
    case chunks = 1

    init(from reader: inout ByteReader) throws(WireError) {
        let code = try reader.u8()
        guard let form = StateForm(rawValue: code) else {
            throw .malformed(what: "a form of a state \(code)", offset: reader.position)
        }
        self = form
    }
}

/// A peer's request to be admitted.
///
/// | bytes | field |
/// |---|---|
/// | 16 | peer |
/// | 8 | session u64, 0 for none |
/// | 8 | history u64 of that session |
/// | 16 | newest epoch seen: number u64, nonce u64 |
/// | 8 | newest watermark seen u64 |
/// | 8 | schema u64 |
/// | 8 | fingerprint u64 of the definition; 0 for a peer without one |
/// | 4 | capacity u32: how many effects it may hold at once |
/// | 4 + … | groups: count u32, strings |
/// | 4 + n | a name for people |
/// | 4 + … | the definition's feedbacks: count u32, strings "name@placement" |
package struct JoinRequest: Equatable, Sendable {
    /// The peer's ID. The peer must subscribe to its inbox topic first.
    package var peer: PeerID
    /// The session that the peer had last; `.none` for its first.
    package var session: SessionID
    /// The history of that session; `.none` without one.
    package var history: History
    /// The newest epoch that the peer has seen; `.none` before the first. If the journal lacks it, history was lost.
    package var epoch: Epoch
    /// The newest watermark that the peer has seen in its session. If it is above the journal's, history was lost.
    package var watermark: UInt64
    /// The peer's schema; 0 for a tool that works with any.
    package var schema: UInt64
    /// The fingerprint of the peer's definition; 0 for a peer without one.
    package var fingerprint: UInt64
    /// How many effects the peer may hold at once; 0 if it runs none. The reducer caps it at 65,536.
    package var capacity: UInt32
    /// The groups whose effects the peer serves. The reducer uses the first 64.
    package var groups: [String]
    /// A name for people, which the status shows.
    package var name: String
    /// The definition's feedbacks as `name@placement`; empty for a peer without a definition. A reducer of a newer schema
    /// grants only effects of feedbacks that it has under the same name and placement.
    package var feedbacks: [String]

    /// Creates a join request from its parts.
    package init(
        peer: PeerID, session: SessionID, history: History, epoch: Epoch, watermark: UInt64, schema: UInt64,
        fingerprint: UInt64, capacity: UInt32, groups: [String], name: String, feedbacks: [String] = []
    ) {
        self.peer = peer
        self.session = session
        self.history = history
        self.epoch = epoch
        self.watermark = watermark
        self.schema = schema
        self.fingerprint = fingerprint
        self.capacity = capacity
        self.groups = groups
        self.name = name
        self.feedbacks = feedbacks
    }

    func write(to writer: inout ByteWriter) {
        writer.peer(peer)
        writer.u64(session.value)
        writer.u64(history.value)
        writer.epoch(epoch)
        writer.u64(watermark)
        writer.u64(schema)
        writer.u64(fingerprint)
        writer.u32(capacity)
        writer.strings(groups)
        writer.string(name)
        writer.strings(feedbacks)
    }

    init(from reader: inout ByteReader) throws(WireError) {
        peer = try reader.peer()
        session = SessionID(try reader.u64())
        history = History(try reader.u64())
        epoch = try reader.epoch()
        watermark = try reader.u64()
        schema = try reader.u64()
        fingerprint = try reader.u64()
        capacity = try reader.u32()
        groups = try reader.strings(countMax: Wire.namesMax, bytesMax: Wire.nameBytesMax)
        name = try reader.string(bytesMax: Wire.nameBytesMax)
        feedbacks = try reader.strings(countMax: Wire.namesMax, bytesMax: Wire.feedbackBytesMax)
    }
}

/// A peer's sign of life, with its position and its capacity.
///
/// | bytes | field |
/// |---|---|
/// | 8 | session u64 |
/// | 16 | epoch: number u64, nonce u64 |
/// | 8 | echo u64: the stamp of the newest tick received |
/// | 8 | applied u64: the newest numbered inbox message applied |
/// | 8 | settled u64: every outcome up to this number is known to the sender |
/// | 4 | capacity u32: absolute, never an increment |
package struct Heartbeat: Equatable, Sendable {
    /// The peer's session.
    package var session: SessionID
    /// The epoch in which the peer was admitted.
    package var epoch: Epoch
    /// The stamp of the newest tick received, in nanoseconds of the reducer's monotonic clock; 0 before the first. The
    /// lease runs from it for the silence limit.
    package var echo: UInt64
    /// The number of the newest inbox message applied; 0 before the first.
    package var applied: UInt64
    /// Every outcome up to this number is known to the peer, so the reducer need not keep it.
    package var settled: UInt64
    /// How many effects the peer may hold at once now: absolute, never an increment. 0 while it is stopping.
    package var capacity: UInt32

    /// Creates a heartbeat from its parts.
    package init(session: SessionID, epoch: Epoch, echo: UInt64, applied: UInt64, settled: UInt64, capacity: UInt32) {
        self.session = session
        self.epoch = epoch
        self.echo = echo
        self.applied = applied
        self.settled = settled
        self.capacity = capacity
    }

    func write(to writer: inout ByteWriter) {
        writer.u64(session.value)
        writer.epoch(epoch)
        writer.u64(echo)
        writer.u64(applied)
        writer.u64(settled)
        writer.u32(capacity)
    }

    init(from reader: inout ByteReader) throws(WireError) {
        session = SessionID(try reader.u64())
        epoch = try reader.epoch()
        echo = try reader.u64()
        applied = try reader.u64()
        settled = try reader.u64()
        capacity = try reader.u32()
    }
}
