package import LoopCore
package import LoopWire

/// One effect that the state wants.
package struct LiveEffect: Equatable, Sendable {
    package enum Status: Equatable, Sendable {
        /// To be run, or running.
        case open
        /// Its body returned; it is not run again while it is wanted.
        case completed
        /// It failed for good, with this message.
        case parked(String)

        /// Parked until the state asks for something that can be sent.
        static let unsendable = Status.parked(LiveEffect.unsendable)
    }

    package var request: [UInt8]
    /// The seq that made the request.
    package var version: Seq
    /// The group whose limits it counts against.
    package internal(set) var group: String?
    package var status: Status
    /// Attempts up to this one are void. Those of epochs before the effect's own were of another effect, which had its number
    /// in a part of the journal that is lost.
    package var floor: Attempt
    package var failures: UInt32 = 0
    package var retryAt: WallTime?

    init(request: [UInt8]?, version: Seq, group: String?, floor: Attempt) {
        self.floor = floor
        self.request = request ?? []
        self.version = version
        self.group = group
        status = request == nil ? .unsendable : .open
    }

    var isOpen: Bool {
        if case .open = status { true } else { false }
    }

    /// Whether it runs nowhere because its request cannot be sent.
    var isUnsendable: Bool { !isOpen && status == .unsendable }

    /// Whether an attempt was granted before, which may have done a part of the work.
    var wasGranted: Bool { floor.count > 0 }

    static let unsendable = "its request cannot be encoded, or is larger than \(Wire.requestBytesMax) bytes"
}

/// What a transition changed among the live effects.
package struct LiveChange: Equatable, Sendable {
    package enum Kind: Sendable {
        case started
        case updated
        case cancelled
    }

    package let kind: Kind
    package let effect: EffectID
    /// Where the effect stands among the live ones, or stood; -1: nowhere. It is in order: a place that was given back by one
    /// change may be taken by a later one.
    let place: Int

    package static func started(_ effect: EffectID) -> LiveChange { LiveChange(.started, effect) }
    package static func updated(_ effect: EffectID) -> LiveChange { LiveChange(.updated, effect) }
    package static func cancelled(_ effect: EffectID) -> LiveChange { LiveChange(.cancelled, effect) }

    init(_ kind: Kind, _ effect: EffectID, at place: Int = -1) {
        self.kind = kind
        self.effect = effect
        self.place = place
    }

    /// Whether they say the same, wherever the effects stand.
    package static func == (a: LiveChange, b: LiveChange) -> Bool { a.kind == b.kind && a.effect == b.effect }
}
