package import CBOR
import LoopCollections

/// A state for people: tracked dictionaries are maps there, as plain dictionaries are. It cannot be decoded as a state.
package enum ShownState {
    /// The document of a state.
    /// - Throws: what encoding the state throws.
    package static func encode(_ state: some Encodable) throws(WireError) -> [UInt8] {
        try CBOR.encode(state, userInfo: [DeltaCoding.key: DeltaCoding.showing])
    }
}
