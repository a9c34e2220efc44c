package import CBOR
import LoopCollections

/// A state as chunks, each an encoded item of its own. The first can be sent and decoded before the last is encoded.
///
/// The first chunk is the *manifest*: the state with a number instead of each `TrackedDictionary`, from 0 in the order of
/// encoding. Each further chunk is an array in which the number of a dictionary and an array of its next entries,
/// `[key, value, …]`, alternate. A state without entries in tracked dictionaries is one chunk: itself. A dictionary within
/// a value of another one is part of that value.
package struct StateChunks: Sendable {
    /// The chunk that is returned first.
    private var first: [UInt8]?
    private let sources: [any EntrySource]
    private var place = EntryPlace()
    private let limits: CBORLimits
    /// The number of entries for the next chunk, learnt from earlier chunks, because the size of an entry is known only
    /// once it is encoded.
    private var entriesCount = 16

    /// Creates the chunks, or nil if the state's dictionaries are empty. The work is proportional to what is outside of the
    /// dictionaries; their contents are shared.
    /// - Throws: what encoding the state throws.
    package init?<State: Encodable>(of state: State, limits: CBORLimits = .default) throws(WireError) {
        let dictionaries = NumberedDictionaries()
        let manifest = try CBOR.encode(
            state, limits: limits, userInfo: [DeltaCoding.key: DeltaCoding.outlining(dictionaries)])
        first = manifest
        sources = dictionaries.all
        self.limits = limits
        place.skipEmpty(sources)
        if place.source >= sources.count { return nil }
    }

    /// Creates the only chunk of a state that is already encoded.
    package init(whole: [UInt8]) {
        first = whole
        sources = []
        limits = .default
    }

    /// Whether there are no more chunks.
    package var isAtEnd: Bool { first == nil && place.source >= sources.count }

    /// Returns the next chunk.
    /// - Parameter byteCount: the approximate size. The manifest and a chunk of one large entry may be larger.
    /// - Throws: what encoding an entry throws.
    package mutating func next(byteCount: Int) throws(WireError) -> [UInt8] {
        if let manifest = first {
            first = nil
            return manifest
        }
        let chunk = EntriesChunk(sources, place, atMost: entriesCount)
        let bytes = try CBOR.encode(chunk, limits: limits)
        place = chunk.place
        place.skipEmpty(sources)
        let fitting = chunk.count * byteCount / max(bytes.count, 1)
        entriesCount = max(1, min(fitting, 8 * entriesCount))
        return bytes
    }
}

/// The position in a state's dictionaries at which the next chunk begins.
private struct EntryPlace {
    var source = 0
    var ordinal = 0

    mutating func skipEmpty(_ sources: [any EntrySource]) {
        while ordinal == 0, source < sources.count, sources[source].count == 0 { source += 1 }
    }
}

/// The entries of one chunk. Encoding them, which must happen once, yields where the next chunk begins.
private final class EntriesChunk: Encodable {
    private let sources: [any EntrySource]
    private let max: Int
    private(set) var place: EntryPlace
    private(set) var count = 0

    init(_ sources: [any EntrySource], _ place: EntryPlace, atMost max: Int) {
        (self.sources, self.place, self.max) = (sources, place, max)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        while count < max, place.source < sources.count {
            try container.encode(place.source)
            let (encoded, next) = try sources[place.source].encode(
                from: place.ordinal, atMost: max - count, into: container.nestedUnkeyedContainer())
            count += encoded
            if let next {
                place.ordinal = next
            } else {
                place = EntryPlace(source: place.source + 1)
                place.skipEmpty(sources)
            }
        }
    }
}

/// A state that is assembled from its chunks.
package struct AssembledState<State: Decodable>: Sendable {
    private let manifest: [UInt8]
    private let dictionaries = AssembledDictionaries()
    private let limits: CBORLimits

    /// Begins with the manifest.
    /// - Throws: an error if the manifest cannot be decoded with empty dictionaries, which some types reject. Such a state
    ///   can only be fetched whole.
    package init(manifest: [UInt8], limits: CBORLimits = .default) throws(WireError) {
        _ = try CBOR.decode(
            State.self, from: manifest, limits: limits,
            userInfo: [DeltaCoding.key: DeltaCoding.expecting(dictionaries)])
        self.manifest = manifest
        self.limits = limits
    }

    /// Adds the next chunk.
    /// - Throws: an error if the bytes are no chunk, or detectably none of this state.
    package mutating func add(_ chunk: [UInt8]) throws(WireError) {
        _ = try CBOR.decode(
            DecodedChunk.self, from: chunk, limits: limits, userInfo: [DecodedChunk.key: dictionaries])
    }

    /// The state that the chunks make.
    /// - Throws: an error if a key was added twice; what decoding the state throws.
    package func state() throws(WireError) -> State {
        try CBOR.decode(
            State.self, from: manifest, limits: limits,
            userInfo: [DeltaCoding.key: DeltaCoding.assembling(dictionaries)])
    }
}

/// A chunk. Decoding it adds its entries to the dictionaries in the decoder's `userInfo`.
private struct DecodedChunk: Decodable {
    static let key = {
        guard let key = CodingUserInfoKey(rawValue: "loop.chunk") else { preconditionFailure("every text is a key") }
        return key
    }()

    init(from decoder: any Decoder) throws {
        guard let dictionaries = decoder.userInfo[Self.key] as? AssembledDictionaries else {
            preconditionFailure("a chunk is decoded without the dictionaries that its entries are of")
        }
        var container = try decoder.unkeyedContainer()
        while !container.isAtEnd {
            let number = try container.decode(Int.self)
            var entries = try container.nestedUnkeyedContainer()
            try dictionaries.add(to: number, from: &entries)
        }
    }
}
