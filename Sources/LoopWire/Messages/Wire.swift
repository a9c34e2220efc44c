package import CBOR
import LoopCollections
package import LoopCore

/// Constants of the protocol. `docs/spec/1-PROTOCOL.md` defines them.
package enum Wire {
    /// The first byte of every header: the letter L.
    package static let magic: UInt8 = 0x4c
    /// The version of the protocol.
    package static let version: UInt8 = 1
    /// Reserved for loops divided into shards; always 0 in this version.
    package static let shard: UInt16 = 0
    /// The version in a frame of another protocol version, or nil if the frame is of this version or of none.
    ///
    /// The first two bytes after a topic have the same meaning in every version.
    /// - Parameter frame: the frame without a topic.
    package static func foreignVersion(of frame: ArraySlice<UInt8>) -> UInt8? {
        guard frame.count >= 2, frame[frame.startIndex] == magic else { return nil }
        let other = frame[frame.startIndex + 1]
        return other == version ? nil : other
    }

    /// The largest message on any socket in bytes: 1 MiB. A socket disconnects the sender of a larger one.
    package static let messageBytesMax = 1 << 20
    /// The largest subscription in bytes, longer than every topic. A publisher disconnects the sender of a larger one.
    package static let subscriptionBytesMax = 512
    /// The largest encoded request in bytes, 512 KiB, so that a grant fits into a message. An effect with a larger request
    /// is parked.
    package static let requestBytesMax = 512 << 10
    /// The largest encoded answer in bytes. A larger one is not sent.
    package static let answerBytesMax = 512 << 10
    /// The longest name of a peer, a loop, a section or a group of effects, in bytes of UTF-8.
    package static let nameBytesMax = 128
    /// The longest text that identifies a feedback, "name@placement", in bytes of UTF-8.
    package static let feedbackBytesMax = 2 * nameBytesMax + 1
    /// How many groups a peer may serve, and how many feedbacks a definition may have.
    package static let namesMax = 4096
}

/// Fixed-width topics, so that none is a prefix of another.
///
/// | bytes | field |
/// |---|---|
/// | 8 | loop ID u64 |
/// | 2 | shard u16 |
/// | 1 | channel: `i` inbox, `u` whole states, `d` deltas, `x` transitions, `t` server heartbeat |
/// | 16 | peer (inbox only) |
/// | 8 | section u64 (whole states and deltas only) |
/// | 4 | interval u32 in milliseconds (whole states and deltas only) |
package enum Topic: Hashable, Sendable {
    /// The messages for one peer.
    case inbox(LoopID, PeerID)
    /// Whole states or deltas, for all observers that chose the same stream.
    case updates(LoopID, UpdateStream)
    /// Every transition, for people.
    case transitions(LoopID)
    /// The server heartbeat and the loop's end, for all observers.
    case tick(LoopID)

    /// The topic as PUB prefixes frames with it and SUB subscribes to it: 11 to 27 bytes, by its kind.
    package var bytes: [UInt8] {
        var writer = ByteWriter()
        write(to: &writer)
        return writer.bytes
    }

    /// Reads a whole topic.
    /// - Throws: `WireError` if the bytes are truncated, too long, of another shard or of an unknown channel.
    package init(bytes: ArraySlice<UInt8>) throws(WireError) {
        var reader = ByteReader(bytes)
        self = try Topic(from: &reader)
        try reader.end()
    }

    func write(to writer: inout ByteWriter) {
        switch self {
        case .inbox(let loop, let peer):
            writer.fields(27) {
                $0.append(number: loop.value)
                $0.append(number: Wire.shard)
                $0.append(UInt8(ascii: "i"))
                $0.append(number: peer.high)
                $0.append(number: peer.low)
            }
        case .updates(let loop, let stream):
            writer.topic(loop, stream.mode.rawValue)
            writer.u64(stream.section.value)
            writer.u32(stream.interval)
        case .transitions(let loop): writer.topic(loop, UInt8(ascii: "x"))
        case .tick(let loop): writer.topic(loop, UInt8(ascii: "t"))
        }
    }

    init(from reader: inout ByteReader) throws(WireError) {
        let loop = LoopID(value: try reader.u64())
        try reader.shard()
        let channel = try reader.u8()
        switch channel {
        case UInt8(ascii: "i"): self = .inbox(loop, try reader.peer())
        case UInt8(ascii: "x"): self = .transitions(loop)
        case UInt8(ascii: "t"): self = .tick(loop)
        default:
            guard let mode = UpdateStream.Mode(rawValue: channel) else {
                throw .malformed(what: "channel \(channel)", offset: reader.position)
            }
            let section = SectionID(value: try reader.u64())
            self = .updates(loop, UpdateStream(mode, of: section, interval: try reader.u32()))
        }
    }
}

extension OutputSpan<UInt8> {
    mutating func protocolVersion() {
        append(Wire.magic)
        append(Wire.version)
    }
}

extension ByteWriter {
    mutating func protocolVersion() {
        u8(Wire.magic)
        u8(Wire.version)
    }

    /// Appends a count and our own bytes, which are never more than a message allows.
    package mutating func prefixed(_ bytes: ArraySlice<UInt8>) {
        u32(UInt32(bytes.count))
        append(bytes: bytes)
    }

    mutating func topic(_ loop: LoopID, _ channel: UInt8) {
        u64(loop.value)
        u16(Wire.shard)
        u8(channel)
    }

    package mutating func peer(_ peer: PeerID) {
        u64(peer.high)
        u64(peer.low)
    }

    package mutating func effect(_ id: EffectID) {
        u32(id.feedback)
        u64(id.seq.value)
        u32(id.index)
    }

    package mutating func attempt(_ attempt: Attempt) {
        u64(attempt.epoch)
        u64(attempt.count)
    }

    package mutating func epoch(_ epoch: Epoch) {
        u64(epoch.number)
        u64(epoch.nonce)
    }

    mutating func milliseconds(_ duration: Duration) {
        u64(UInt64(max(0, duration.wholeMilliseconds)))
    }

    package mutating func string(_ text: String) { prefixed(Array(text.utf8)[...]) }

    package mutating func strings(_ texts: [String]) {
        u32(UInt32(texts.count))
        for text in texts { string(text) }
    }

    package mutating func outcomes(_ outcomes: [NotableOutcome]) {
        u32(UInt32(outcomes.count))
        for item in outcomes {
            u64(item.number)
            switch item.outcome {
            case .applied(let seq):
                u8(0)
                u64(seq.value)
            case .refused(let reason):
                u8(reason.rawValue)
                u64(0)
            }
        }
    }
}

extension ByteReader {
    mutating func protocolVersion() throws(WireError) {
        let magic = try u8()
        let version = try u8()
        guard magic == Wire.magic else { throw .malformed(what: "a foreign protocol (first byte \(magic))", offset: 0) }
        guard version == Wire.version else {
            throw .malformed(what: "protocol version \(version), this node speaks \(Wire.version)", offset: 1)
        }
    }

    package mutating func prefixed() throws(WireError) -> ArraySlice<UInt8> { try prefixed(max: remaining) }

    mutating func shard() throws(WireError) {
        let shard = try u16()
        guard shard == Wire.shard else { throw .malformed(what: "shard \(shard)", offset: position) }
    }

    package mutating func peer() throws(WireError) -> PeerID {
        PeerID(high: try u64(), low: try u64())
    }

    package mutating func effect() throws(WireError) -> EffectID {
        EffectID(feedback: try u32(), seq: Seq(try u64()), index: try u32())
    }

    package mutating func attempt() throws(WireError) -> Attempt {
        Attempt(epoch: try u64(), count: try u64())
    }

    package mutating func epoch() throws(WireError) -> Epoch {
        Epoch(number: try u64(), nonce: try u64())
    }

    mutating func milliseconds() throws(WireError) -> Duration {
        .milliseconds(Int64(clamping: min(try u64(), 1 << 40)))
    }

    /// Reads a text.
    /// - Parameter bytesMax: the largest size in bytes of UTF-8.
    package mutating func string(bytesMax: Int = .max) throws(WireError) -> String {
        let bytes = try prefixed(max: min(remaining, bytesMax), "text")
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw .malformed(what: "text that is not UTF-8", offset: position)
        }
        return text
    }

    /// Reads a list of texts.
    /// - Parameter bytesMax: the largest size of each in bytes of UTF-8.
    package mutating func strings(countMax: Int = .max, bytesMax: Int = .max) throws(WireError) -> [String] {
        let count = try count(bytesEach: 4)
        guard count <= countMax else { throw .tooLarge(what: "list of texts", size: count, limit: countMax) }
        var texts: [String] = []
        texts.reserveCapacity(count)
        for _ in 0..<count { texts.append(try string(bytesMax: bytesMax)) }
        return texts
    }

    package mutating func flag() throws(WireError) -> Bool {
        let value = try u8()
        guard value <= 1 else { throw .malformed(what: "flag \(value)", offset: position) }
        return value == 1
    }

    /// Reads a count of items of at least `bytesEach` bytes each. It is never larger than the remaining bytes allow.
    package mutating func count(bytesEach: Int) throws(WireError) -> Int {
        let count = Int(try u32())
        guard count <= remaining / bytesEach else {
            throw .malformed(what: "\(count) items in \(remaining) bytes", offset: position)
        }
        return count
    }

    package mutating func outcomes() throws(WireError) -> [NotableOutcome] {
        let count = try count(bytesEach: 17)
        var outcomes: [NotableOutcome] = []
        outcomes.reserveCapacity(count)
        for _ in 0..<count {
            let number = try u64()
            let code = try u8()
            let seq = Seq(try u64())
            if code == 0 {
                outcomes.append(NotableOutcome(number: number, outcome: .applied(seq)))
            } else if let reason = SendRefusal.Reason(rawValue: code) {
                outcomes.append(NotableOutcome(number: number, outcome: .refused(reason)))
            } else {
                throw .malformed(what: "outcome \(code)", offset: position)
            }
        }
        return outcomes
    }
}
