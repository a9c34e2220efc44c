public import CBOR

/// The part of a state that a tool asks for: a section, or the value at a path of the whole state or of the section.
public struct StateSelection: Codable, Equatable, Sendable {
    /// The name of a section of the definition, or nil for the whole state.
    public var section: String?
    /// The steps of the path: keys of maps as JSON shows them, and indices of array elements from 0. Empty for the whole.
    public var path: [String]

    /// Creates a part from its fields. Without arguments it is the whole state.
    public init(section: String? = nil, path: [String] = []) {
        self.section = section
        self.path = path
    }

    /// Extracts the encoded value at the path.
    /// - Parameter bytes: the encoded state or section.
    /// - Throws: ``StateSelectionError`` if nothing is there; `WireError` if the bytes are no CBOR.
    package func bytes(of bytes: [UInt8]) throws -> [UInt8] {
        if path.isEmpty { return bytes }
        switch try CBOR.part(of: bytes, at: path) {
        case .found(let part): return part
        case .missing(let step, let known): throw StateSelectionError.nothing(path, step: step, known)
        }
    }
}

/// Why a state has no such part.
public enum StateSelectionError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The definition has only these sections.
    case unknownSection(String, known: [String])
    /// The step of the path with this index leads nowhere.
    case nothing([String], step: Int, CBORPart.Known)

    /// One line for people, which says what there is instead.
    public var description: String {
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
