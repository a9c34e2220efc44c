import CBOR

/// The reducer's answer to hello: its loop and definition, and the addresses of its other sockets.
///
/// | bytes | field |
/// |---|---|
/// | 4 + n | loop name |
/// | 8 | schema u64 |
/// | 8 | fingerprint u64 of the definition |
/// | 4 + n | PUB: a port as decimal digits, or a whole endpoint |
/// | 4 + n | PULL: likewise |
/// | 4 | the largest encoded event u32 |
package struct Introduction: Equatable, Sendable {
    /// The name of the reducer's loop.
    package var name: String
    /// The reducer's schema: the version of the loop's state and events as they are encoded.
    package var schema: UInt64
    /// The fingerprint of the reducer's definition. Both sides must have the same, except workers of an older schema.
    package var fingerprint: UInt64
    /// A port if the transport is TCP, because the peer uses the host that it dialled; else an endpoint.
    package var publisher: String
    /// The endpoint for batches, in the form of `publisher`.
    package var collector: String
    /// The largest encoded event in bytes that the reducer accepts. A sender refuses a larger one before it is numbered.
    package var eventBytesMax: UInt32

    /// Creates an introduction from its parts.
    package init(
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

/// The reason why a peer is refused, with the values of both sides.
///
/// | bytes | field |
/// |---|---|
/// | 1 | what: 1 loop, 2 schema, 3 definition, 4 placement, 5 protocol version, 6 section, 7 key, 8 role, 9 session |
/// | 4 + n | the reducer's |
/// | 4 + n | the peer's |
package struct Refused: Error, Equatable, Sendable, CustomStringConvertible {
    /// The properties in which the two sides may differ. The raw values are on the wire.
    package enum What: UInt8, Sendable {
        /// The loop's name.
        case loop = 1
        /// The schema, which is newer than the reducer's, or too old for its definition.
        case schema = 2
        /// The fingerprint of the definition.
        case definition = 3
        /// A group that the worker wants to serve and that the reducer serves itself.
        case placement = 4
        /// The version of the protocol.
        case protocolVersion = 5
        /// The requested section of the state, which the definition does not register.
        case section = 6
        /// The key of the peer, which the reducer does not admit, or no longer admits.
        case key = 7
        /// The requested action, which no role of the peer's key allows.
        case role = 8
        /// The session, which belongs to another key, or was not the peer's when history was lost.
        case session = 9

        /// Whether the refusal can also end the part of a peer that was admitted.
        package var isOfKeys: Bool {
            switch self {
            case .loop, .schema, .definition, .placement, .protocolVersion, .section: false
            case .key, .role, .session: true
            }
        }
    }

    /// The property that differs, or the action that is not allowed.
    package var what: What
    /// The reducer's value, as text for people; for a section the existing names, for a role the key and its roles.
    package var reducer: String
    /// The peer's value, as text for people.
    package var peer: String

    /// Creates a refusal from its parts.
    package init(_ what: What, reducer: String, peer: String) {
        self.what = what
        self.reducer = reducer
        self.peer = peer
    }

    /// A sentence for people with both values and the remedy, if there is one.
    package var description: String {
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
        case .key:
            "the reducer does not admit the key \(peer); add its certificate to allowed/ of the reducer's folder of keys"
        case .role: "the key \(reducer), may not \(peer)"
        case .session:
            "the session \(peer) is not of the key \(reducer); use the key that it was begun with, or begin another"
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
