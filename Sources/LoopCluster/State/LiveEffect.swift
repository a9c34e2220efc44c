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

    package var request: [UInt8]
    /// The seq that made the request.
    package var version: Seq
    /// The group whose limits apply to it.
    package internal(set) var group: String?
    package var status: Status
    /// The attempt up to which all are void. Attempts of epochs before the effect's own belonged to another effect, which had
    /// its number in a lost part of the journal.
    package var floor: Attempt
    package var failures: UInt32 = 0
    /// When the effect is tried again, or nil if it may start at once.
    package var retry: RetryTime?
    /// Whether an attempt was ever granted. It may have done a part of the work.
    package var wasGranted = false
    /// Whether an attempt was granted that no record has ended, so that a worker may still run it.
    package var mayBeHeld = false

    init(request: [UInt8]?, version: Seq, group: String?, floor: Attempt) {
        self.request = request ?? []
        self.version = version
        self.group = group
        self.floor = floor
        status = request == nil ? .unsendable : .open
    }

    mutating func grant(_ attempt: Attempt) {
        wasGranted = true
        mayBeHeld = true
        floor = max(floor, Attempt(epoch: attempt.epoch, count: attempt.count &- 1))
    }

    var isOpen: Bool { if case .open = status { true } else { false } }

    /// Whether it does not run anywhere because its request cannot be sent.
    var isUnsendable: Bool { !isOpen && status == .unsendable }

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
