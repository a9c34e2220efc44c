import LoopWire

/// When the reducer's machine was given the time, and when it was frozen instead. A reducer that was frozen does not blame its
/// workers: leases are longer by that time.
struct LeaseWatch {
    /// The epoch of the serving process.
    var epoch = Epoch.none
    private var advancedAt: UInt64 = 0
    private var standstills: [(endedAt: UInt64, length: UInt64)] = []

    /// A process begins to serve.
    mutating func begin(_ epoch: Epoch, at now: UInt64) {
        self.epoch = epoch
        advancedAt = now
        standstills = []
    }

    /// The machine was given the time.
    mutating func advance(to now: UInt64, silenceLimit: UInt64) {
        if now - advancedAt > silenceLimit / 2 { standstills.append((now, now - advancedAt)) }
        advancedAt = now
    }

    /// How long the reducer was frozen, in standstills that ended at a time or later.
    func stoodStill(since time: UInt64) -> UInt64 {
        standstills.reduce(0) { $1.endedAt >= time ? $0 + $1.length : $0 }
    }
}

/// How long one worker's effects may not be given to another one. A lease runs from the time when the newest tick that the worker
/// has read was sent, or from its join acceptance.
struct LeaseAccount {
    /// When the newest message that has reached the worker in this epoch left the reducer, or 0 if none has.
    private(set) var reachedAt: UInt64 = 0
    /// When it last read a message of its history in its inbox.
    var heardAt: UInt64
    /// The value of `reachedAt` when the reducer was last seen to have taken its effects, and the time of the last check.
    private var lapsed: (reached: UInt64, lookedAt: UInt64) = (.max, 0)

    init(heardAt: UInt64) { self.heardAt = heardAt }

    /// Another process serves, and the worker has read no message of it.
    mutating func begin() { reachedAt = 0 }

    mutating func reach(at time: UInt64) { reachedAt = max(reachedAt, time) }

    /// Whether the lease is over and it is time to check whether its effects were taken.
    func mustBeChecked(at now: UInt64, silenceLimit: UInt64, _ watch: LeaseWatch) -> Bool {
        guard reachedAt > 0, now > reachedAt + silenceLimit, lapsed.reached != reachedAt,
            now >= lapsed.lookedAt + 50_000_000
        else { return false }
        return now > reachedAt + silenceLimit + watch.stoodStill(since: reachedAt)
    }

    /// Notes the result of a check.
    mutating func note(isTaken: Bool, at now: UInt64) { lapsed = (isTaken ? reachedAt : .max, now) }
}
