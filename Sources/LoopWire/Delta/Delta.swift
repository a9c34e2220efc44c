package import CBOR
import LoopCollections

/// The delta between two states as bytes: the changes of each `TrackedDictionary`, and everything else whole.
///
/// A delta is the encoding of the new state with other entries for its tracked dictionaries. One that was in the base is:
///
///     [path, [removed keys], [key, value, … updated], [key, value, … inserted]]
///
/// Any other is `[null, key, value, …]`. This works for every `Codable` state. The cost in work and bytes is that of the
/// changes in the dictionaries, and of everything outside of them.
///
/// A dictionary is identified by the path of names that leads to it. A dictionary in an array or a set, or within a value
/// of another one, is written whole if it is encoded at all.
package enum Delta {
    /// The delta that turns the state of a base into a later one.
    /// - Parameters:
    ///   - base: the base, of the earlier state.
    ///   - new: the resulting state.
    ///   - limits: the bounds of the encoding, such as its depth.
    /// - Throws: `WireError` as encoding the state does.
    package static func encode<State: Encodable>(
        since base: DeltaBase, to new: State, limits: CBORLimits = .default
    ) throws(WireError) -> [UInt8] {
        try CBOR.encode(new, limits: limits, userInfo: [DeltaCoding.key: DeltaCoding.writing(since: base.parts)])
    }

    /// Turns the base of a delta into the resulting state.
    /// - Parameters:
    ///   - bytes: the delta, as ``encode(since:to:limits:)`` makes it.
    ///   - state: the base; unchanged if an error is thrown.
    ///   - limits: the bounds of the decoding.
    /// - Throws: `WireError` if the bytes are no delta, or detectably none of this state. A wrong base is not always
    ///   detected; a hash of the result detects it.
    package static func apply<State: Codable>(
        _ bytes: [UInt8], to state: inout State, limits: CBORLimits = .default
    ) throws(WireError) {
        let parts = DeltaParts()
        _ = try CBOR.encode(state, limits: limits, userInfo: [DeltaCoding.key: DeltaCoding.noting(parts)])
        state = try CBOR.decode(
            State.self, from: bytes, limits: limits, userInfo: [DeltaCoding.key: DeltaCoding.reading(since: parts)])
    }
}

/// A base for later deltas, without the state itself: an anchor for each tracked dictionary.
///
/// A copy of the state would force the next changes to copy what they change. A delta includes entries that were changed and
/// have their old value again. A dictionary that replaced another one, or that has mostly changed, is in it whole.
package struct DeltaBase: Sendable {
    let parts: DeltaParts
    /// The number of bytes outside of the state's dictionaries, which every delta contains.
    package let byteCount: Int

    /// Creates the base. The work is proportional to what is outside of the state's dictionaries.
    /// - Throws: what encoding the state throws.
    package init<State: Encodable>(of state: State, limits: CBORLimits = .default) throws(WireError) {
        parts = DeltaParts()
        byteCount = try CBOR.encode(
            state, limits: limits, userInfo: [DeltaCoding.key: DeltaCoding.anchoring(parts)]
        ).count
    }
}
