import LoopCollections
package import LoopCore
package import LoopWire

/// One effect that the state requests.
package struct LiveEffect: Equatable, Sendable {
    package enum Status: Equatable, Sendable {
        /// It is to be run, or runs.
        case open
        /// Its body returned. It is not run again while it is wanted.
        case completed
        /// It failed for good, with this message.
        case parked(String)

        /// The status of an effect that is parked until the state requests something that can be sent.
        static let unsendable = Status.parked(LiveEffect.unsendable)
    }

    /// The values that most effects never have.
    private struct Particulars: Equatable, Sendable {
        var group: String?
        var status = Status.open
        var failures: UInt32 = 0
        var retry: RetryTime?
    }

    private final class Box: Sendable {
        let particulars: Particulars

        init(_ particulars: Particulars) { self.particulars = particulars }
    }

    package var request: RequestBytes
    /// The seq that made the request, which is below 2⁶². The two highest bits say whether an attempt was granted and may still
    /// run.
    private var marked: UInt64
    /// The attempt up to which all are void. Attempts of epochs before the effect's own belonged to another effect, which had
    /// its number in a lost part of the journal.
    package var floor: Attempt
    /// The particulars, or nil if there are none. An effect and its ID thus take 64 bytes, one line of a processor's cache.
    private var box: Box?

    init(request: RequestBytes?, version: Seq, group: String?, floor: Attempt) {
        self.floor = floor
        self.request = request ?? RequestBytes([])
        marked = version.value
        if request == nil || group != nil {
            box = Box(Particulars(group: group, status: request == nil ? .unsendable : .open))
        }
    }

    private var particulars: Particulars {
        get { box?.particulars ?? Particulars() }
        set { box = newValue == Particulars() ? nil : Box(newValue) }
    }

    /// The group whose limits apply to it.
    package internal(set) var group: String? {
        get { box?.particulars.group }
        set { particulars.group = newValue }
    }

    package var status: Status {
        get { box?.particulars.status ?? .open }
        set { particulars.status = newValue }
    }

    package var failures: UInt32 {
        get { box?.particulars.failures ?? 0 }
        set { particulars.failures = newValue }
    }

    /// When the effect is tried again, or nil if it may start at once.
    package var retry: RetryTime? {
        get { box?.particulars.retry }
        set { particulars.retry = newValue }
    }

    var isOpen: Bool {
        guard let box else { return true }
        return if case .open = box.particulars.status { true } else { false }
    }

    /// Whether it does not run anywhere because its request cannot be sent.
    var isUnsendable: Bool { !isOpen && status == .unsendable }

    private static var grantedMark: UInt64 { 1 << 63 }
    private static var heldMark: UInt64 { 1 << 62 }

    /// The seq that made the request.
    package var version: Seq {
        get { Seq(marked & (Self.heldMark - 1)) }
        set { marked = marked & (Self.grantedMark | Self.heldMark) | newValue.value }
    }

    /// Whether an attempt was ever granted. It may have done a part of the work.
    package var wasGranted: Bool {
        get { marked & Self.grantedMark != 0 }
        set { marked = newValue ? marked | Self.grantedMark : marked & ~Self.grantedMark }
    }

    /// Whether an attempt was granted that no record has ended, so that a worker may still run it.
    package var mayBeHeld: Bool {
        get { marked & Self.heldMark != 0 }
        set { marked = newValue ? marked | Self.heldMark : marked & ~Self.heldMark }
    }

    package static func == (a: LiveEffect, b: LiveEffect) -> Bool {
        a.request == b.request && a.marked == b.marked && a.floor == b.floor && a.particulars == b.particulars
    }

    static let unsendable = "its request cannot be encoded, or is larger than \(Wire.requestBytesMax) bytes"
}

/// A change among the live effects.
package struct LiveChange: Equatable, Sendable {
    package enum Kind: Sendable {
        case started
        case updated
        case cancelled
    }

    package let kind: Kind
    package let effect: EffectID
    /// The place of the effect among the live ones, or its last place, or nil if it had none. Changes are in order: a later one
    /// may take a place that an earlier one gave back.
    let place: Int?

    package static func started(_ effect: EffectID) -> LiveChange { LiveChange(.started, effect) }
    package static func updated(_ effect: EffectID) -> LiveChange { LiveChange(.updated, effect) }
    package static func cancelled(_ effect: EffectID) -> LiveChange { LiveChange(.cancelled, effect) }

    init(_ kind: Kind, _ effect: EffectID, at place: Int? = nil) {
        self.kind = kind
        self.effect = effect
        self.place = place
    }

    /// Whether both are the same change, whatever the places of the effects.
    package static func == (a: LiveChange, b: LiveChange) -> Bool { a.kind == b.kind && a.effect == b.effect }
}

/// An effect, and its place when it was seen among the live ones. While it is in that place, it is found without a search.
struct EffectCursor {
    let effect: EffectID
    /// The place, or nil if the effect was not searched for.
    private let seenAt: Int?

    init(_ effect: EffectID, seenAt place: Int? = nil) {
        self.effect = effect
        seenAt = place
    }

    /// The place of the effect, or nil if it is not live.
    @inline(__always)
    func place(in effects: HashTable<EffectID, LiveEffect>) -> Int? { effects.index(forKey: effect, near: seenAt) }
}
