import LoopCluster
package import LoopCore
package import LoopWire

/// What a simulated cluster runs in addition to the shipped machines: a definition, the bodies of its effects, and the events of
/// its clients. The engine requests one step after the other and decides when it takes place. A workload draws only from the run's
/// generator.
package protocol Workload: Sendable {
    associatedtype Definition: LoopDefinition
    /// The remaining steps of one attempt's body.
    associatedtype Script: Sendable

    var definition: Definition { get }
    var coder: any ValueCoder { get }
    var limits: WorkloadLimits { get }

    /// A body begins, or continues with a newer request.
    mutating func script(for job: Job, _ draw: inout Draw) throws(Violation) -> Script

    /// The next step of a body.
    mutating func next(_ script: inout Script, _ draw: inout Draw) throws(Violation) -> BodyStep

    /// Whether a body ends with the script's event, in one entry, as bodies of a node do when they can.
    func endsWithItsEvent(_ script: Script, _ draw: inout Draw) -> Bool

    /// What a client sends now, and when it sends next.
    mutating func burst(of client: Int, _ draw: inout Draw) throws(Violation) -> Burst

    /// Whether reducing an event ends a process whose build cannot reduce it.
    func isPoison(_ event: Definition.Event) -> Bool

    /// Whether there are events that may be set aside.
    var hasPoison: Bool { get }

    /// Throws if a state that the accepted events make is wrong.
    func judge(_ state: Definition.State, at seq: Seq) throws(Violation)

    /// Advice for a broken promise that also depends on the definition, or nil for none.
    func advice(on promise: Promise) -> String?

    /// Whether two states are equal.
    func areEqual(_ a: Definition.State, _ b: Definition.State) -> Bool
}

extension Workload {
    package func isPoison(_ event: Definition.Event) -> Bool { false }

    package var hasPoison: Bool { false }

    package func judge(_ state: Definition.State, at seq: Seq) throws(Violation) {}

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
    /// The number of effects that run at once in the reducer's process.
    package var localCapacity = 256
    /// Whether no effect gets two equal requests in a row.
    package var requestsDiffer = false
    /// The number of turns between two rough comparisons of the reducer's state with the journal's. Every eighth is complete.
    package var restInterval = 1
    /// The number of records after which the journal's state is replaced by one from its snapshot.
    package var shadowRecordsMax = 32
    /// How long a loop may take to come to rest after the faults. Then its bodies and clients do nothing more, so that everything
    /// that was sent settles. If nil, it must come to rest by itself.
    package var restLimit: Duration?
}

/// An attempt that begins, or that has a newer request.
package struct Job: Sendable {
    package let grant: Grant
    package let history: History
    /// The name of the feedback, or nil if the reducer has not sent it.
    package let feedback: String?
}

/// The inputs of a step: the run's generator, and the progress of the run.
package struct Draw: Sendable {
    package var random: SeededRandom
    /// Virtual nanoseconds since the beginning.
    package let now: UInt64
    package let faultsEnd: UInt64
    /// Whether the next event should be one that a build of the loop cannot reduce. The workload resets it afterwards.
    package var wantsPoison = false

    package var isFaulty: Bool { now < faultsEnd }
}

/// What a body does next.
package enum BodyStep: Sendable {
    /// Sends an encoded event, and waits while there is no space.
    case send([UInt8])
    case pause(nanoseconds: UInt64)
    case end(Failure?)
    /// Does nothing more until it is cancelled.
    case rest
}

/// What a client sends at once.
package struct Burst: Sendable {
    /// The encoded events.
    package var events: [[UInt8]] = []
    /// The number of nanoseconds until its next turn, or nil if it has sent everything.
    package var pause: UInt64?
}

/// The data of a run's loop that do not depend on the loop's types.
struct SimulatedLoop {
    let id: LoopID
    let fingerprint: DefinitionFingerprint
    /// The groups of workers in which effects are placed.
    let workerGroups: [String]
    /// Whether some effects run in the reducer's process.
    let hasLocalEffects: Bool
    let coder: any ValueCoder
    let limits: WorkloadLimits

    init<Work: Workload>(_ work: Work) {
        let feedbacks = work.definition.allFeedbacks
        id = LoopID(name: Work.Definition.name)
        fingerprint = DefinitionFingerprint(of: work.definition)
        workerGroups = Set(feedbacks.map(\.placement.group)).subtracting([localGroup, reducerGroup]).sorted()
        hasLocalEffects = feedbacks.contains { $0.placement == .local && $0.makeQuery != nil }
        coder = work.coder
        limits = work.limits
    }
}
