import CBOR
import LoopCluster
import LoopCollections
import LoopCore
import LoopWire
import Testing
import ZMQ

@testable import LoopNode

/// A loop whose effect sends an event that is too large, and then waits to be stopped.
private struct Oversized: LoopDefinition {
    struct State: Codable, Sendable, Equatable { var wanted = [1: 1] }
    enum Event: Codable, Sendable, Equatable { case text(String) }

    static let name = "oversized"
    let placement: Placement
    let wasStopped: Monitor<Bool>
    let initial = State()

    func reduce(into state: inout State, _ event: Event, _: Transition) { state.wanted = [:] }

    var feedbacks: [Feedback<State, Event>] {
        let wasStopped = wasStopped
        return [
            .react("large", requests: \.wanted) { _ in
                .run { send in
                    try await send(.text(String(repeating: "x", count: 600 << 10)))
                    try? await Task.sleep(for: .seconds(3600))
                    wasStopped.withLock { $0 = Task.isCancelled }
                    wasStopped.broadcast()
                }
            }
            .on(placement)
            .retry(.never)
        ]
    }
}

@Suite(.timeLimit(.minutes(5))) struct `A body of an effect` {
    @Test(arguments: [Placement.local, .workers])
    func `is stopped, and its effect fails, if an event whose outcome it does not wait for is too large`(
        placement: Placement
    ) async throws {
        let (context, address) = (try ZMQContext(), try ReducerAddress(parsing: "inproc://oversized"))
        let definition = Oversized(placement: placement, wasStopped: Monitor(false))
        let reducer = try ReducerNode(definition, configuration: .test(address, context))
        let run = Task { try await reducer.run() }
        let worker = try EffectNode(definition, configuration: .test(address, context, "worker"))
        let work = placement == .workers ? Task { try await worker.run() } : nil
        try await NodeThread.run("watcher") { definition.wasStopped.wait(until: { $0 }) }
        var parked: [StatusReport.Parked] = []
        while parked.isEmpty {
            parked = try await NodeThread.run("probe") {
                try StatusProbe.ask(address, within: .seconds(240), context: context).parked
            }
        }
        #expect(parked.count == 1 && parked[0].message.contains("the event is too large"), "\(parked)")
        worker.stop()
        _ = try await work?.value
        reducer.stop()
        _ = try await run.value
    }
}

@Suite(.timeLimit(.minutes(5))) struct `A peer's driver` {
    private let now = SystemClock.monotonic
    private let collector = LogCollector()
    private let log: NodeLog
    private let gate: OutboxGate
    private var driver: PeerDriver

    init() throws {
        let configuration = PeerConfiguration(
            peer: PeerID(high: 1, low: 1), loop: Jobs.name, schema: UInt64(Jobs.schema), fingerprint: 1,
            groups: ["default"], capacity: 4, name: "worker")
        log = NodeLog(name: "worker", collector.handler)
        gate = try OutboxGate(countMax: 16, bytesMax: 1 << 20)
        driver = PeerDriver(
            configuration: configuration, effects: DefinitionEffects(Jobs(), coder: CBORCoder()), gate: gate, at: now)
        let introduction = Introduction(
            name: Jobs.name, schema: UInt64(Jobs.schema), fingerprint: 1, publisher: "1", collector: "2",
            eventBytesMax: 1000)
        driver.machine.receiveReply(frame(.introduction(introduction)), at: now)
        driver.machine.receivePublished(
            frame(
                .joinAccepted(
                    watermark: 0, silenceLimit: .seconds(3), tickInterval: .seconds(1), feedbacks: ["other"])), at: now)
        driver.machine.receiveReply(frame(.assignments(Assignments(number: 0, watermark: 0, grants: []))), at: now)
    }

    private func frame(_ message: ToPeer) -> PeerFrame {
        PeerFrame(
            history: History(7), epoch: Epoch(number: 1, nonce: 1), session: SessionID(3), message: message)
    }

    @Test mutating func `hands back an effect of a feedback that it has not offered, and says so`() {
        for count in 1...3 {
            let grant = Grant(
                effect: EffectID(feedback: 0, seq: Seq(1), index: 0),
                attempt: Attempt(epoch: 1, count: UInt64(count)), version: Seq(1), failures: 0, isResumed: false,
                request: [1])
            driver.machine.receivePublished(frame(.commands(number: UInt64(count), [.start(grant)])), at: now)
            _ = driver.turn(at: now, log)
            #expect(driver.machine.nextBatch()?.entries.map(\.kind) == [.released])
        }
        #expect(collector.events.map(\.kind) == [.unserved])
    }

    @Test mutating func `says that an event is too large to be sent, if its sender has gone on`() async throws {
        let event = Entry(kind: .event, payload: Array(repeating: 0, count: 1001)[...])
        try await gate.send(event)
        driver.takePosted(at: now, log)
        #expect(driver.machine.nextBatch() == nil)
        #expect(collector.events.map(\.kind) == [.undecodable])
        #expect(collector.events.last?.text.contains("1001 bytes encoded, the limit is 1000") == true)
    }
}
