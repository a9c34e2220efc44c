import CBOR

/// The reducer's answer to hello: who it is and where its other sockets are.
///
/// | bytes | field |
/// |---|---|
/// | 4 + n | loop name |
/// | 8 | schema u64 |
/// | 8 | fingerprint u64 of the definition |
/// | 4 + n | PUB: a port as decimal digits, or a whole endpoint |
/// | 4 + n | PULL: likewise |
/// | 4 | the largest encoded event u32 |
public struct Introduction: Equatable, Sendable {
    public var name: String
    public var schema: UInt64
    public var fingerprint: UInt64
    /// A port where the transport is TCP: the peer uses the host that it dialled. Else an endpoint.
    public var publisher: String
    public var collector: String
    public var eventBytesMax: UInt32

    public init(
        name: String, schema: UInt64, fingerprint: UInt64, publisher: String, collector: String, eventBytesMax: UInt32
    ) {
        self.name = name
        self.schema = schema
        self.fingerprint = fingerprint
        self.publisher = publisher
        self.collector = collector
        self.eventBytesMax = eventBytesMax
    }

    func write(to writer: inout ByteWriter) {
        writer.string(name)
        writer.u64(schema)
        writer.u64(fingerprint)
        writer.string(publisher)
        writer.string(collector)
        writer.u32(eventBytesMax)
    }

    init(from reader: inout ByteReader) throws(WireError) {
        name = try reader.string()
        schema = try reader.u64()
        fingerprint = try reader.u64()
        publisher = try reader.string()
        collector = try reader.string()
        eventBytesMax = try reader.u32()
    }
}

/// A peer is not let in, and why: names both sides.
///
/// | bytes | field |
/// |---|---|
/// | 1 | what: 1 loop, 2 schema, 3 definition, 4 placement, 5 protocol version, 6 section |
/// | 4 + n | the reducer's |
/// | 4 + n | the peer's |
public struct Refused: Error, Equatable, Sendable, CustomStringConvertible {
    public enum What: UInt8, Sendable {
        case loop = 1
        case schema = 2
        case definition = 3
        case placement = 4
        case protocolVersion = 5
        case section = 6
    }

    public var what: What
    public var reducer: String
    public var peer: String

    public init(_ what: What, reducer: String, peer: String) {
        self.what = what
        self.reducer = reducer
        self.peer = peer
    }

    public var description: String {
        switch what {
        case .loop: "the reducer runs the loop \"\(reducer)\", this node was started for \"\(peer)\""
        case .schema: "the reducer speaks schema \(reducer) of this loop, this node schema \(peer); run the same build"
        case .definition:
            "the reducer's definition (\(reducer)) differs from this node's (\(peer)): feedbacks or placements are not"
                + " the same; run the same build on both sides"
        case .protocolVersion:
            "the reducer speaks version \(reducer) of the protocol, this node version \(peer); run the same release"
        case .section:
            "this loop has no section \"\(peer)\" of its state;"
                + (reducer.isEmpty ? " its definition registers none" : " it has \(reducer)")
        case .placement: "the group \"\(peer)\" is the reducer's own; a worker may serve \(reducer)"
        }
    }

    func write(to writer: inout ByteWriter) {
        writer.u8(what.rawValue)
        writer.string(reducer)
        writer.string(peer)
    }

    init(from reader: inout ByteReader) throws(WireError) {
        let code = try reader.u8()
        guard let what = What(rawValue: code) else {
            throw .malformed(what: "refusal \(code)", offset: reader.position)
        }
        self.what = what
        reducer = try reader.string()
        peer = try reader.string()
    }
}
