package import LoopCore
import LoopWire

/// The simulator's own loop with many kinds of trouble: effects that fail, run forever, or do several things at once. Clients send
/// in bursts, some payloads are no event, and some events end the process.
package struct SlotWorkload: Workload {
    package let definition: SlotLoop
    package let coder: any ValueCoder = SlotCoder()

    package var limits: WorkloadLimits {
        WorkloadLimits(
            eventBytesMax: 64, outboxBytesMax: 1 << 20, requestsDiffer: true, restInterval: 8, shadowRecordsMax: 512,
            restLimit: nil)
    }

    private let plan: SimulationPlan
    /// The number of ids so far. Every event has its own.
    private var ids: UInt64 = 0

    /// The remaining work of one body.
    package struct Script: Sendable {
        fileprivate let slot: Int
        fileprivate var stepsLeft: Int
        fileprivate let fails: Bool
        fileprivate let finishes: Bool
        /// Whether it continues until it is cancelled.
        fileprivate let isEndless: Bool
        /// Whether it does nothing until it is cancelled.
        fileprivate let hangs: Bool
        fileprivate var pauses = false
    }

    package init(plan: SimulationPlan) {
        self.plan = plan
        definition = SlotLoop(hasTimers: plan.hasTimers)
    }

    package mutating func script(for job: Job, _ draw: inout Draw) throws(Violation) -> Script {
        guard let request = try? SlotCoder().decode(UInt64.self, from: job.grant.request) else {
            throw Violation(
                .nothingLost, "the request of \(job.grant.effect) cannot be read: \(job.grant.request)")
        }
        let effect = job.grant.effect
        let slot =
            switch effect.feedback {
            case 0: Int(request % 2)
            case 3: Int(request)
            default: Int(effect.feedback) + 1
            }
        return Script(
            slot: slot, stepsLeft: draw.random.pick(5), fails: draw.isFaulty && draw.random.chance(plan.failureShare),
            finishes: draw.random.chance(0.3),
            isEndless: effect.feedback == 0 || effect.feedback == 1 && effect.seq.value % 2 == 0,
            hangs: effect.feedback == 3 && draw.isFaulty && job.grant.attempt.count % 8 == 0)
    }

    package mutating func next(_ script: inout Script, _ draw: inout Draw) throws(Violation) -> BodyStep {
        if script.hangs { return .rest }
        if script.pauses {
            script.pauses = false
            if script.isEndless { return .pause(nanoseconds: draw.random.between(100_000_000, 1_000_000_000)) }
            // Some events follow each other at once, and leave in one batch.
            return .pause(nanoseconds: draw.random.chance(0.4) ? 0 : draw.random.between(0, 300_000_000))
        }
        if script.isEndless {
            if !draw.isFaulty { return .rest }
            script.pauses = true
            return .send(try payload(.step, script.slot, &draw))
        }
        if script.stepsLeft == 0 {
            return .end(script.fails ? Failure(message: "no luck", isFinal: draw.random.chance(0.1)) : nil)
        }
        script.stepsLeft -= 1
        script.pauses = true
        if let end = plan.end, end.isByEffects, draw.now >= end.at {
            return .send(try payload(.end, script.slot, &draw))
        }
        let isLast = script.stepsLeft == 0 && script.finishes && !script.fails
        return .send(try payload(isLast ? .finish : .step, script.slot, &draw))
    }

    package func endsWithItsEvent(_ script: Script, _ draw: inout Draw) -> Bool {
        script.stepsLeft == 0 && !script.fails && !script.isEndless && draw.random.chance(0.5)
    }

    private static let wishes: [SlotEvent.Kind] = [.on, .on, .off, .bump]
    /// How many events a client sends at once.
    private static let bursts = [1, 1, 1, 4, 12]

    package mutating func burst(of client: Int, _ draw: inout Draw) throws(Violation) -> Burst {
        let isEnding = plan.end.map { draw.now >= $0.at } ?? false
        guard isEnding || draw.now + 1_000_000_000 < draw.faultsEnd else {
            return Burst(pause: plan.end.map { $0.at - draw.now })
        }
        var burst = Burst()
        let count = Self.bursts[draw.random.pick(Self.bursts.count)]
        for _ in 0..<count {
            if plan.hasTimers, draw.random.chance(0.5) {
                // Most keys are set repeatedly.
                let kind = draw.random.chance(0.8) ? SlotEvent.Kind.setTimer : .clearTimer
                burst.events.append(try payload(kind, draw.random.pick(24), &draw))
                continue
            }
            burst.events.append(
                try payload(Self.wishes[draw.random.pick(4)], draw.random.pick(SlotLoop.slotCount), &draw))
        }
        // Repeatedly, until it learns that the loop has ended. Others follow it.
        if isEnding { burst.events.insert(try payload(.end, 0, &draw), at: draw.random.pick(count)) }
        let mean = Double(count * plan.clientCount) / plan.eventsPerSecond
        burst.pause = draw.random.between(0, UInt64(2e9 * mean))
        return burst
    }

    package func isPoison(_ event: SlotEvent) -> Bool { event.kind == .poison }

    package var hasPoison: Bool { true }

    package func areEqual(_ a: SlotState, _ b: SlotState) -> Bool { a == b }

    private mutating func payload(
        _ kind: SlotEvent.Kind, _ slot: Int, _ draw: inout Draw
    ) throws(Violation) -> [UInt8] {
        if draw.random.chance(plan.garbageShare) { return [0xff, 0x00] }
        ids += 1
        var event = SlotEvent(kind: draw.wantsPoison ? .poison : kind, slot: slot, id: ids)
        if draw.wantsPoison, plan.hasTimers, draw.random.chance(0.5) {
            event = SlotEvent(kind: .setTimer, slot: SlotLoop.poisonedKey + draw.random.pick(100), id: ids)
        }
        draw.wantsPoison = false
        do {
            return try SlotCoder().encode(event)
        } catch {
            throw Violation(.usage, "\(event) cannot be encoded: \(error)")
        }
    }
}
