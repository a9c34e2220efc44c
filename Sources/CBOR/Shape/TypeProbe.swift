/// Finds out what the documents of types look like, and why a document is not of a type, by decoding with a decoder that notes what
/// is asked for.
///
///     var probe = TypeProbe()
///     probe.learn(Event.self, from: try CBOR.encode(Event.placed(order)))
///     probe.shape(of: Event.self).text                    // {"placed": {"_0": {"amount": Int, "id": String}}} | …
///     probe.explain(Event.self, bytes).error              // at placed._0: the key "amount" (Int) is missing
///
/// The cases of an enum cannot be asked for: they are learnt from examples, or from keys that are `CaseIterable`. It is for tools
/// and for what goes wrong, and far slower than ``CBOR``.
public struct TypeProbe {
    private let session = ProbeSession()

    /// A probe that knows nothing yet.
    public init() {}

    /// Learns from a document of a type: the cases in it, and values by which other types that hold them can be probed.
    /// - Throws: what is wrong with the document.
    public func learn<T: Decodable>(_ type: T.Type, from bytes: [UInt8]) throws(WireError) {
        do {
            _ = try CBOR.withDecoder(of: bytes) { try session.read(type, from: $0, at: []) }
        } catch {
            throw WireError(decoding: error)
        }
    }

    /// What the documents of a type look like, as far as it is known by now.
    public func shape<T: Decodable>(of type: T.Type) -> TypeShape { session.shape(of: type) }

    /// Why a document is not of a type, and what in it the type does not read.
    public func explain<T: Decodable>(_ type: T.Type, _ bytes: [UInt8]) -> DecodingExplanation {
        session.begin()
        do {
            _ = try CBOR.withDecoder(of: bytes) { try session.read(type, from: $0, at: []) }
            return DecodingExplanation(error: nil, unknownKeys: session.unknownKeys())
        } catch {
            return DecodingExplanation(error: session.text(of: error), unknownKeys: session.unknownKeys())
        }
    }
}

/// What a type makes of a document.
public struct DecodingExplanation: Codable, Equatable, Sendable {
    /// Why the document is not of the type, with the place in it, what was expected, and the known cases; nil: it is.
    public var error: String?
    /// The places of keys that no key of the type is named like, at most 100: `placed._0.amuont`.
    public var unknownKeys: [String]

    /// Creates an explanation from its parts.
    public init(error: String?, unknownKeys: [String]) {
        self.error = error
        self.unknownKeys = unknownKeys
    }
}
