import LoopCluster
package import LoopCore
package import LoopWire

/// What a simulated cluster runs besides the shipped machines: a definition, the bodies of its effects, and what its clients
/// send. The engine asks for one step after the other and decides when it comes to pass; whatever a workload draws, it draws
/// from the run's generator.
package protocol Workload: Sendable {
    associatedtype Definition: LoopDefinition
    /// The remaining steps of one attempt's body.
    associatedtype Script: Sendable

    var definition: Definition { get }
    var coder: any ValueCoder { get }
    var limits: WorkloadLimits { get }

    /// A body begins, or continues with a newer request.
    mutating func script(for job: Job, _ draw: inout Draw) throws(Violation) -> Script

    /// What a body does next.
    mutating func next(_ script: inout Script, _ draw: inout Draw) throws(Violation) -> BodyStep

    /// Whether a body that was to send the script's event ends with that: it says so with the event, as bodies of a node do when
    /// they can.
    func endsWithItsEvent(_ script: Script, _ draw: inout Draw) -> Bool

    /// What a client sends now, and when it sends next.
    mutating func burst(of client: Int, _ draw: inout Draw) throws(Violation) -> Burst

    /// Whether reducing an event ends a process whose build cannot take it.
    func isPoison(_ event: Definition.Event) -> Bool

    /// Whether there are events that may be set aside.
    var hasPoison: Bool { get }

    /// Returns what is wrong with a state that the accepted events make.
    func judge(_ state: Definition.State, at seq: Seq) throws(Violation)

    /// What a transcript says of an event; nil: nothing.
    func describe(_ event: Definition.Event) -> String?

    /// What to look for where a promise was broken that depends on the definition too; nil: nothing.
    func advice(on promise: Promise) -> String?

    /// Whether two states are the same.
    func areEqual(_ a: Definition.State, _ b: Definition.State) -> Bool
}

extension Workload {
    package func isPoison(_ event: Definition.Event) -> Bool { false }

    package var hasPoison: Bool { false }

    package func judge(_ state: Definition.State, at seq: Seq) throws(Violation) {}

    package func describe(_ event: Definition.Event) -> String? { nil }

    package func advice(on promise: Promise) -> String? { nil }

    package func areEqual(_ a: Definition.State, _ b: Definition.State) -> Bool {
        guard let a = try? coder.encode(a), let b = try? coder.encode(b) else { return false }
        return a == b
    }
}

/// What a workload needs of its cluster.
package struct WorkloadLimits: Sendable {
    package var eventBytesMax = 512 << 10
    package var outboxBytesMax = 32 << 20
    /// How many effects run at once in the reducer's process.
    package var localCapacity = 256
    /// Whether an effect never asks for the same thing twice in a row.
    package var requestsDiffer = false
    /// The number of turns between two rough comparisons of the reducer's state with the journal's. Every eighth is complete.
    package var restInterval = 1
    /// The number of records after which the journal's state is replaced by one from its snapshot.
    package var shadowRecordsMax = 32
    /// How long a loop is given to come to rest after the faults; then its bodies and clients stand still, so that everything
    /// that was sent is settled. Nil: it is to come to rest by itself.
    package var restLimit: Duration?
}

/// One attempt that begins, or whose request is a newer one.
package struct Job: Sendable {
    package let grant: Grant
    package let history: History
    /// Nil: the reducer has not told.
    package let feedback: String?
    package let isUpdate: Bool
}

/// What a step may depend on: the run's chance, and how far it has come.
package struct Draw: Sendable {
    package var random: SeededRandom
    /// Virtual nanoseconds since the beginning.
    package let now: UInt64
    package let faultsEnd: UInt64
    /// Whether the next event is to be one that a build of the loop cannot take; to be taken back once it was.
    package var wantsPoison = false

    package var isFaulty: Bool { now < faultsEnd }

    package mutating func chance(_ share: Double) -> Bool { random.chance(share) }

    package mutating func between(_ least: UInt64, _ most: UInt64) -> UInt64 { random.between(least, most) }

    package mutating func pick(_ count: Int) -> Int { random.pick(count) }
}

/// What a body does next.
package enum BodyStep: Sendable {
    /// Sends an encoded event, and waits while there is no room.
    case send([UInt8])
    case pause(nanoseconds: UInt64)
    case end(Failure?)
    /// Nothing more, until it is cancelled.
    case rest
}

/// What a client sends at once.
package struct Burst: Sendable {
    /// The encoded events.
    package var events: [[UInt8]] = []
    /// After how many nanoseconds it is its turn again; nil: it has sent everything.
    package var pause: UInt64?
}
