public import CBOR
import LoopCollections
import LoopCore

/// The delta between two states as bytes: the changes of each `TrackedDictionary`, and everything else whole.
///
/// A delta is the encoding of the new state in which a tracked dictionary that was in the base stands as
/// `[path, [removed keys], [key, value, … updated], [key, value, … inserted]]`, and any other one as
/// `[null, key, value, …]`. So it works for any `Codable` state. Its cost in work and bytes is that of the changes in
/// the dictionaries, and of everything outside of them.
///
/// A dictionary is found again by the path of names that leads to it. A dictionary in an array or a set, or within a
/// value of another one, is written whole when it is reached.
public enum Delta {
    /// The delta that turns one state into a later one.
    /// - Parameters:
    ///   - old: the base. Dictionaries that share structure with those of `new` are compared in proportion to the
    ///     changes.
    ///   - new: the state that results.
    ///   - limits: the bounds of the encoding, such as its depth.
    /// - Throws: `WireError` as encoding either state does.
    public static func encode<State: Encodable>(
        from old: State, to new: State, limits: CBORLimits = .default
    ) throws(WireError) -> [UInt8] {
        let parts = try parts(of: old, limits)
        return try CBOR.encode(new, limits: limits, userInfo: [DeltaCoding.key: DeltaCoding.writing(since: parts)])
    }

    /// What makes a state of one that was the base before it.
    /// - Throws: what encoding a state throws.
    package static func encode<State: Encodable>(
        since base: DeltaBase, to new: State, limits: CBORLimits = .default
    ) throws(WireError) -> [UInt8] {
        try CBOR.encode(new, limits: limits, userInfo: [DeltaCoding.key: DeltaCoding.writing(since: base.parts)])
    }

    /// Turns the base of a delta into the state that the delta results in.
    /// - Parameters:
    ///   - bytes: the delta, as ``encode(from:to:limits:)`` makes it.
    ///   - state: the base; unchanged if an error is thrown.
    ///   - limits: the bounds of the decoding.
    /// - Throws: `WireError` if the bytes are not a delta, or visibly not one to this state. A wrong base is not
    ///   always visible; a hash of the result shows it.
    public static func apply<State: Codable>(
        _ bytes: [UInt8], to state: inout State, limits: CBORLimits = .default
    ) throws(WireError) {
        let parts = try parts(of: state, limits)
        state = try CBOR.decode(
            State.self, from: bytes, limits: limits, userInfo: [DeltaCoding.key: DeltaCoding.reading(since: parts)])
    }

    private static func parts<State: Encodable>(
        of state: State, _ limits: CBORLimits
    ) throws(WireError) -> DeltaParts {
        let parts = DeltaParts()
        _ = try CBOR.encode(state, limits: limits, userInfo: [DeltaCoding.key: DeltaCoding.noting(parts)])
        return parts
    }
}

/// A base for later deltas, without the state itself: an anchor for each tracked dictionary.
///
/// So no copy is held, which would make the next changes copy what they change. The delta to it has more entries than
/// one to a copy would have. It includes an entry that was changed and has its old value again. A dictionary that
/// replaced another one, or most of which has changed, is in it whole.
package struct DeltaBase: Sendable {
    let parts: DeltaParts
    /// How many bytes there are outside of the state's dictionaries: every delta is as long.
    package let byteCount: Int

    /// Takes work for what is outside of the state's dictionaries.
    /// - Throws: what encoding the state throws.
    package init<State: Encodable>(of state: State, limits: CBORLimits = .default) throws(WireError) {
        parts = DeltaParts()
        byteCount = try CBOR.encode(
            state, limits: limits, userInfo: [DeltaCoding.key: DeltaCoding.anchoring(parts)]
        ).count
    }
}
