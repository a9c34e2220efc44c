package import CBOR
import LoopCollections
package import LoopCore

/// A state for people, in which tracked dictionaries are maps like plain dictionaries. It cannot be decoded as a state.
package enum ShownState {
    /// The document of a state.
    /// - Throws: what encoding the state throws.
    package static func encode(_ state: some Encodable) throws(WireError) -> [UInt8] {
        try CBOR.encode(state, userInfo: [DeltaCoding.key: DeltaCoding.showing])
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
