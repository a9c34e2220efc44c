package import CBOR
import LoopCollections
package import LoopCore

/// The part of a state that a tool requests: a section, or the value at a path of the whole or of the section.
package struct StateSelection: Codable, Equatable, Hashable, Sendable {
    /// The name of a section of the definition, or nil for the whole state.
    package var section: String?
    /// Keys of maps as in JSON, and indices of array elements, from 0.
    package var path: [String]

    /// Creates a selection from its fields; without any it is the whole state.
    package init(section: String? = nil, path: [String] = []) {
        self.section = section
        self.path = path
    }

    /// The bytes of the value at the path.
    /// - Parameter bytes: the encoded state or section.
    /// - Throws: ``StateSelectionError`` if there is no such value; `WireError` if the bytes are no CBOR.
    package func bytes(of bytes: [UInt8]) throws -> [UInt8] {
        if path.isEmpty { return bytes }
        switch try CBOR.part(of: bytes, at: path) {
        case .found(let part): return part
        case .missing(let step, let known): throw StateSelectionError.nothing(path, step: step, known)
        }
    }
}

/// Which entries of a map or an array an outline has.
package struct OutlineSelection: Codable, Equatable, Hashable, Sendable {
    /// The number of the first entry, from 0.
    package var from: Int
    /// How many entries there are at most, up to 1000.
    package var max: Int

    /// Creates a selection from its fields.
    package init(from: Int, max: Int) {
        self.from = from
        self.max = max
    }

    /// The numbers of the entries, within the limits.
    fileprivate var numbers: Range<Int> {
        // A peer chooses the numbers, and the sum must not overflow. No document has entries that far.
        let first = Swift.min(Swift.max(from, 0), Int.max - 1000)
        return first..<(first + Swift.min(Swift.max(max, 0), 1000))
    }
}

/// The reason why a state has no such part.
package enum StateSelectionError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The definition has only these sections.
    case unknownSection(String, known: [String])
    /// The step of this number leads to nothing.
    case nothing([String], step: Int, CBORPart.Known)

    /// A line for people that says what exists instead.
    package var description: String {
        switch self {
        case .unknownSection(let name, let known):
            return "the definition has no section \"\(name)\"; "
                + (known.isEmpty ? "it has none (--path shows any part)" : "it has \(known.joined(separator: ", "))")
        case .nothing(let path, let step, let known):
            let place = step == 0 ? "the top" : path[..<step].joined(separator: ".")
            let what = "there is no \"\(path[step])\" at \(place): "
            switch known {
            case .keys(let keys, let count):
                let rest = count > keys.count ? ", … (\(count) keys)" : ""
                return what + (keys.isEmpty ? "it is empty" : "it has \(keys.joined(separator: ", "))\(rest)")
            case .elements(let count): return what + "it is an array of \(count) elements, from [0] on"
            case .value: return what + "it is a single value"
            }
        }
    }
}

/// A state for people, in which tracked dictionaries are maps like plain dictionaries. It cannot be decoded as a state.
package enum ShownState {
    /// The document of a state.
    /// - Throws: what encoding the state throws.
    package static func encode(_ state: some Encodable) throws(WireError) -> [UInt8] {
        try CBOR.encode(state, userInfo: [DeltaCoding.key: DeltaCoding.showing])
    }

    /// Encodes an outline of a part of a state, or the part itself, as a document.
    /// - Throws: ``StateSelectionError`` if there is no such part; `WireError` if the state cannot be encoded.
    package static func encode<Definition: LoopDefinition>(
        _ part: StateSelection, of state: Definition.State, _ definition: Definition, outline: OutlineSelection?
    ) throws -> [UInt8] {
        let bytes = try encode(part, of: state, definition)
        return try outline.map { try CBOR.encode(CBOR.outline(of: bytes, entries: $0.numbers)) } ?? bytes
    }

    /// Encodes a part of a state as a document.
    /// - Throws: ``StateSelectionError`` if there is no such part; `WireError` if the state cannot be encoded.
    package static func encode<Definition: LoopDefinition>(
        _ part: StateSelection, of state: Definition.State, _ definition: Definition
    ) throws -> [UInt8] {
        guard let name = part.section else { return try part.bytes(of: encode(state)) }
        guard let section = definition.sections.first(where: { $0.name == name }) else {
            throw StateSelectionError.unknownSection(name, known: definition.sections.map(\.name))
        }
        return try part.bytes(of: encode(section.reading, of: state))
    }

    private static func encode<State>(
        _ reading: some SectionReading<State>, of state: State
    ) throws(WireError) -> [UInt8] {
        try encode(reading.value(in: state))
    }
}
