/// Finds out what the documents of types look like, and why a document is not of a type. It decodes with a decoder that notes what
/// the type reads.
///
///     var probe = TypeProbe()
///     probe.learn(Event.self, from: try CBOR.encode(Event.placed(order)))
///     probe.shape(of: Event.self).text                    // {"placed": {"_0": {"amount": Int, "id": String}}} | …
///     probe.explain(Event.self, bytes).error              // at placed._0: the key "amount" (Int) is missing
///
/// An enum cannot list its cases. They are learnt from examples, or from keys that are `CaseIterable`. A probe is for tools and for
/// errors, and far slower than ``CBOR``.
package struct TypeProbe {
    private let session = ProbeSession()

    /// Creates a probe that knows nothing yet.
    package init() {}

    /// Learns from a document of a type: the cases in it, and values with which other types that contain them can be probed.
    /// - Throws: ``WireError`` if the document is invalid or not of the type.
    package func learn<T: Decodable>(_ type: T.Type, from bytes: [UInt8]) throws(WireError) {
        do {
            _ = try CBOR.withDecoder(of: bytes) { try session.read(type, from: $0, at: []) }
        } catch {
            throw WireError(decoding: error)
        }
    }

    /// What the documents of a type look like, as far as the probe knows by now.
    package func shape<T: Decodable>(of type: T.Type) -> TypeShape { session.shape(of: type) }

    /// Explains why a document is not of a type, and which parts of it the type does not read.
    package func explain<T: Decodable>(_ type: T.Type, _ bytes: [UInt8]) -> DecodingExplanation {
        session.begin()
        do {
            _ = try CBOR.withDecoder(of: bytes) { try session.read(type, from: $0, at: []) }
            return DecodingExplanation(error: nil, unknownKeys: session.unknownKeys())
        } catch {
            return DecodingExplanation(error: session.text(of: error), unknownKeys: session.unknownKeys())
        }
    }
}

/// How a type reads a document.
package struct DecodingExplanation: Codable, Equatable, Sendable {
    /// Why the document is not of the type, with the position, what was expected, and the known cases. Nil if it is of the type.
    package var error: String?
    /// The positions of keys that the type does not have, at most 100: `placed._0.amuont`.
    package var unknownKeys: [String]

    /// Creates an explanation from its parts.
    package init(error: String?, unknownKeys: [String]) {
        self.error = error
        self.unknownKeys = unknownKeys
    }
}
