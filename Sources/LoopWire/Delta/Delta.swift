public import CBOR
import LoopCollections
import LoopCore

/// The difference between two states as bytes: of each `TrackedDictionary` what has changed in it, of everything else all.
///
/// It is the encoding of the new state in which a tracked dictionary that was there before stands as
/// `[path, [removed keys], [key, value, … updated], [key, value, … inserted]]`, and any other one as `[null, key, value, …]`.
/// So it works for any `Codable` state, and takes work and bytes for what has changed in its dictionaries, and for what is
/// outside of them.
///
/// A dictionary is found again by the path of names that leads to it. One that stands in an array or a set, or within a
/// value of another one, is written whole when it is reached.
public enum Delta {
    /// What makes the new state of the old one.
    /// - Throws: what encoding a state throws.
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

    /// Makes a state the new one of a delta to it.
    /// - Throws: where the bytes are no delta, or not one to this state as far as that can be seen; the state stays.
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

/// A state that deltas are made to later, without the state: of each tracked dictionary an anchor.
///
/// So nobody holds a copy, which would make the next changes copy what they change. The delta to it says more than one
/// to a copy would: an entry that was changed and has its old value again is in it, and a dictionary that was put in the
/// place of another one, or most of which has changed, is in it whole.
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
