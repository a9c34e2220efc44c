package import CBOR
import LoopCollections
package import LoopCore

/// A message of the reducer to one peer, through its inbox topic or over ROUTER, or to all subscribers of a topic.
///
/// | verb | message | body |
/// |---|---|---|
/// | 1 | introduction | `Introduction` |
/// | 2 | join accepted | watermark u64, silence limit ms u64, tick interval ms u64, feedbacks: count u32, names |
/// | 3 | commands | number u64, count u32, `Command`… |
/// | 4 | ack | `Acknowledgement` |
/// | 5 | tick | `Tick` |
/// | 6 | assignments | `Assignments` |
/// | 7 | outcomes | `Acknowledgement` |
/// | 8 | busy | `Question`, milliseconds u64, reason |
/// | 9 | state part | `StatePart` |
/// | 10 | status | a CBOR document |
/// | 11 | ended | seq u64, exit code u32, text |
/// | 12 | refused | `Question`, `Refused` |
/// | 13 | update | seq u64, state: count u32, bytes |
/// | 14 | transitions | count u32, `TransitionNote`… |
/// | 15 | server heartbeat | seq u64 |
/// | 16 | answer | `AnswerPart` |
/// | 17 | delta | `StateDelta` |
/// | 18 | unchanged | from u64, through u64, at least from |
/// | 19 | state hash | seq u64, hash u64 |
/// | 20 | goodbye heard | nothing |
/// | 21 | refusal details | count u32, `RefusalDetail`… |
/// | 22 | redirect | address |
/// | 23 | no leader | milliseconds u64 |
package enum ToPeer: Equatable, Sendable {
    /// Answers hello.
    case introduction(Introduction)
    /// Admits the peer. It arrives through the inbox, which proves the subscription. The durations travel in
    /// milliseconds. `feedbacks` has the names for the feedback numbers in effect IDs, from 0 on.
    case joinAccepted(watermark: UInt64, silenceLimit: Duration, tickInterval: Duration, feedbacks: [String] = [])
    /// Orders to a worker, numbered for each inbox. After a gap the worker applies nothing until `assignments`.
    case commands(number: UInt64, CommandRun)
    /// Acknowledges entries of the session. It is unnumbered; the base of the next one shows that one was lost.
    case acknowledgement(Acknowledgement)
    /// The sign of life at the tick interval, with the newest numbers.
    case tick(Tick)
    /// All effects that the worker should run, over ROUTER. It repairs a gap in the inbox.
    case assignments(Assignments)
    /// Answers ``ToReducer/outcomesRequest(_:after:)`` from the journaled state.
    case outcomes(Acknowledgement)
    /// Requests that the peer repeats a question later. The reason is for people.
    case busy(to: Question, retryAfter: Duration, reason: String)
    /// Answers ``ToReducer/stateRequest(transfer:part:form:section:deltas:)`` with one part.
    case statePart(StatePart)
    /// Answers ``ToReducer/statusRequest``: a ``StatusReport`` in CBOR.
    case status([UInt8])
    /// The loop has ended; `at` is the seq of its last state.
    case ended(at: Seq, exitCode: Int32, text: String)
    /// Refuses what the peer has asked. The peer must not ask it again, and the part of it that asked has ended.
    case refused(Refused, to: Question)
    /// The whole state, or a section of it, in CBOR, as of a seq.
    case update(Seq, state: [UInt8])
    /// Applied events in the order of their seqs, for observers that fold them and for people.
    case transitions([TransitionNote])
    /// The newest seq, sent to all observers at the tick interval.
    case serverHeartbeat(Seq)
    /// A part of the answer to an operator's request.
    case answer(AnswerPart)
    /// The changes since an earlier state.
    case delta(StateDelta)
    /// The section was unchanged at all of these seqs.
    case unchanged(ClosedRange<Seq>)
    /// FNV-1a of the canonical bytes of the state at a seq, which observers compare with their own.
    case stateHash(Seq, UInt64)
    /// The session that said goodbye has ended, by a record in the journal.
    case goodbyeHeard
    /// The texts of refusals, before the acknowledgement or the outcomes that contain them. A peer that does not know or
    /// get this message still gets the reasons.
    case refusalDetails([RefusalDetail])
    /// A standby's answer with the leader's address. The frame has the leader's epoch, or `.none` if the standby does not know it.
    case redirect(String)
    /// A standby's answer while it knows no leader. The peer should retry later.
    case noLeader(retryAfter: Duration)
}

/// One frame from the reducer: a message with its history, epoch and session.
///
/// | bytes | field |
/// |---|---|
/// | 11, 19, 23 or 27 | topic (on PUB only) |
/// | 2 | protocol: `4c`, version |
/// | 8 | history u64 |
/// | 16 | epoch: number u64, nonce u64 |
/// | 8 | session u64, 0 if it is for no session in particular |
/// | 1 | verb |
/// | … | body |
package struct PeerFrame: Equatable, Sendable {
    /// The history that the reducer is in. If it is another one, the peer joins again.
    package var history: History
    /// The epoch of the reducer that sent the frame. If it is a newer one, the peer joins again.
    package var epoch: Epoch
    /// The session that the message is for; `.none` if it is for none in particular.
    package var session: SessionID
    /// The content of the frame.
    package var message: ToPeer

    /// Creates a frame from its parts.
    package init(history: History, epoch: Epoch, session: SessionID, message: ToPeer) {
        self.history = history
        self.epoch = epoch
        self.session = session
        self.message = message
    }

    /// The whole frame.
    /// - Parameter topic: the topic under which PUB publishes the frame, as its prefix; or nil over ROUTER.
    package func bytes(topic: Topic?) -> [UInt8] {
        var writer = ByteWriter(capacity: 96 + message.roomWanted)
        topic?.write(to: &writer)
        writer.fields(34) {
            $0.protocolVersion()
            $0.append(number: history.value)
            $0.append(number: epoch.number)
            $0.append(number: epoch.nonce)
            $0.append(number: session.value)
        }
        message.write(to: &writer)
        return writer.bytes
    }

    /// Reads a frame that came over ROUTER → DEALER.
    /// - Throws: `WireError` if the frame is truncated, too long or malformed, or of another protocol version.
    package init(bytes: ArraySlice<UInt8>) throws(WireError) {
        var reader = ByteReader(bytes)
        try self.init(from: &reader)
    }

    /// Reads a frame that came over PUB → SUB, with its topic.
    /// - Throws: `WireError` if topic or frame is truncated, too long or malformed, or of another protocol version.
    package static func published(_ bytes: ArraySlice<UInt8>) throws(WireError) -> (topic: Topic, frame: PeerFrame) {
        var reader = ByteReader(bytes)
        let topic = try Topic(from: &reader)
        return (topic, try PeerFrame(from: &reader))
    }

    private init(from reader: inout ByteReader) throws(WireError) {
        try reader.protocolVersion()
        history = History(try reader.u64())
        epoch = try reader.epoch()
        session = SessionID(try reader.u64())
        message = try ToPeer(from: &reader)
        try reader.end()
    }
}

extension ToPeer {
    /// The approximate size of a large message in bytes.
    fileprivate var roomWanted: Int {
        switch self {
        case .commands(_, let commands): commands.byteCount
        default: 0
        }
    }

    func write(to writer: inout ByteWriter) {
        switch self {
        case .introduction(let introduction):
            writer.u8(1)
            introduction.write(to: &writer)
        case .joinAccepted(let watermark, let silenceLimit, let tickInterval, let feedbacks):
            writer.u8(2)
            writer.u64(watermark)
            writer.milliseconds(silenceLimit)
            writer.milliseconds(tickInterval)
            writer.strings(feedbacks)
        case .commands(let number, let commands):
            writer.u8(3)
            writer.u64(number)
            writer.u32(UInt32(commands.count))
            writer.append(bytes: commands.bytes)
        case .acknowledgement(let acknowledgement):
            writer.u8(4)
            acknowledgement.write(to: &writer)
        case .tick(let tick):
            writer.u8(5)
            tick.write(to: &writer)
        case .assignments(let assignments):
            writer.u8(6)
            assignments.write(to: &writer)
        case .outcomes(let acknowledgement):
            writer.u8(7)
            acknowledgement.write(to: &writer)
        case .busy(let question, let retryAfter, let reason):
            writer.u8(8)
            question.write(to: &writer)
            writer.milliseconds(retryAfter)
            writer.string(reason)
        case .statePart(let part):
            writer.u8(9)
            part.write(to: &writer)
        case .status(let document):
            writer.u8(10)
            writer.prefixed(document[...])
        case .ended(let seq, let exitCode, let text):
            writer.u8(11)
            writer.u64(seq.value)
            writer.u32(UInt32(bitPattern: exitCode))
            writer.string(text)
        case .refused(let refused, let question):
            writer.u8(12)
            question.write(to: &writer)
            refused.write(to: &writer)
        case .update(let seq, let state):
            writer.u8(13)
            writer.u64(seq.value)
            writer.prefixed(state[...])
        case .transitions(let notes):
            writer.u8(14)
            writer.u32(UInt32(notes.count))
            for note in notes { note.write(to: &writer) }
        case .serverHeartbeat(let seq):
            writer.u8(15)
            writer.u64(seq.value)
        case .answer(let part):
            writer.u8(16)
            part.write(to: &writer)
        case .delta(let delta):
            writer.u8(17)
            delta.write(to: &writer)
        case .unchanged(let seqs):
            writer.u8(18)
            writer.seqs(seqs)
        case .stateHash(let seq, let hash):
            writer.u8(19)
            writer.u64(seq.value)
            writer.u64(hash)
        case .goodbyeHeard: writer.u8(20)
        case .refusalDetails(let details):
            writer.u8(21)
            writer.details(details)
        case .redirect(let address):
            writer.u8(22)
            writer.string(address)
        case .noLeader(let retryAfter):
            writer.u8(23)
            writer.milliseconds(retryAfter)
        }
    }

    init(from reader: inout ByteReader) throws(WireError) {
        let verb = try reader.u8()
        switch verb {
        case 1: self = .introduction(try Introduction(from: &reader))
        case 2:
            self = .joinAccepted(
                watermark: try reader.u64(), silenceLimit: try reader.milliseconds(),
                tickInterval: try reader.milliseconds(), feedbacks: try reader.strings())
        case 3:
            let number = try reader.u64()
            self = .commands(number: number, try CommandRun(reader.count(bytesEach: 33), from: &reader))
        case 4: self = .acknowledgement(try Acknowledgement(from: &reader))
        case 5: self = .tick(try Tick(from: &reader))
        case 6: self = .assignments(try Assignments(from: &reader))
        case 7: self = .outcomes(try Acknowledgement(from: &reader))
        case 8:
            self = .busy(
                to: try Question(from: &reader), retryAfter: try reader.milliseconds(), reason: try reader.string())
        case 9: self = .statePart(try StatePart(from: &reader))
        case 10: self = .status(Array(try reader.prefixed()))
        case 11:
            self = .ended(
                at: Seq(try reader.u64()), exitCode: Int32(bitPattern: try reader.u32()), text: try reader.string())
        case 12:
            let question = try Question(from: &reader)
            self = .refused(try Refused(from: &reader), to: question)
        case 13: self = .update(Seq(try reader.u64()), state: Array(try reader.prefixed()))
        case 14:
            var notes: [TransitionNote] = []
            for _ in 0..<(try reader.count(bytesEach: 29)) { notes.append(try TransitionNote(from: &reader)) }
            self = .transitions(notes)
        case 15: self = .serverHeartbeat(Seq(try reader.u64()))
        case 16: self = .answer(try AnswerPart(from: &reader))
        case 17: self = .delta(try StateDelta(from: &reader))
        case 18: self = .unchanged(try reader.seqs())
        case 19: self = .stateHash(Seq(try reader.u64()), try reader.u64())
        case 20: self = .goodbyeHeard
        case 21: self = .refusalDetails(try reader.details())
        case 22: self = .redirect(try reader.string())
        case 23: self = .noLeader(retryAfter: try reader.milliseconds())
        default: throw .malformed(what: "verb \(verb)", offset: reader.position)
        }
    }
}
