import CBOR
import LoopCluster
import LoopCore
import LoopWire

/// An operation whose cost has a budget.
package struct Budget: Sendable {
    package let name: String
    /// Repeats the operation about `count` times. Returns the exact number and the allocations.
    package let run: @Sendable (_ count: Int) -> (units: Int, allocations: UInt64)

    /// All budgets, in the order in which they are shown.
    package static let all: [Budget] = [
        events("reducer-packed", PackedEvent.self, .reducer),
        events("reducer-codable", PlainEvent.self, .reducer),
        events("sender-packed", PackedEvent.self, .peer),
        events("sender-codable", PlainEvent.self, .peer),
        effects("reducer-effect", .reducer),
        effects("worker-effect", .peer),
        inProcess,
    ]

    /// The cost of a client's event on either side, with 64 events in a turn.
    private static func events<Event: NumberedEvent>(
        _ name: String, _ type: Event.Type, _ side: Pair<Counting<Event>>.Side
    ) -> Budget {
        Budget(name: name) { count in
            var pair = Pair(Counting<Event>(), measuring: side)
            pair.join()
            var number: UInt64 = 0
            for turn in 0..<64 + count / 64 {
                if turn == 64 { pair.meter.isRunning = true }
                pair.withPeer { peer in
                    // Encoded once and taken at once, as a sender passes entries to the machine.
                    var run = EntryRun()
                    for _ in 0..<64 {
                        number += 1
                        guard let bytes = try? CBOR.encode(Event(number: number)) else { return }
                        run.append(Entry(kind: .event, payload: bytes[...]))
                    }
                    precondition(peer.accept(run).refused.isEmpty, "the machine has not accepted every entry")
                }
                pair.turn()
            }
            return (count / 64 * 64, pair.meter.allocations)
        }
    }

    /// The cost of one effect of a keyed feedback: its start, one event and its end. A turn completes 64 of 1024 live ones.
    private static func effects(_ name: String, _ side: Pair<Fan>.Side) -> Budget {
        Budget(name: name) { count in
            var pair = Pair(Fan(), measuring: side, capacity: 2048)
            pair.join()
            if let bytes = try? CBOR.encode(Fan.Event.begin(1024)) {
                pair.withPeer { _ = $0.send(bytes[...], of: nil, wantsSeq: false) }
            }
            var waiting: [Grant] = []
            var done = 0
            for _ in 0..<64 { pair.turn() }
            waiting = pair.takeRuns()
            while done < count {
                if done >= 1024, !pair.meter.isRunning {
                    pair.meter.isRunning = true
                    done = 0
                }
                let grants = waiting.prefix(64)
                precondition(grants.count == 64, "the worker has only \(grants.count) effects to run")
                waiting.removeFirst(grants.count)
                pair.withPeer { peer in
                    // Encoded once and taken at once, as a body passes entries to the machine.
                    var run = EntryRun()
                    for grant in grants {
                        guard let number = try? CBOR.decode(Int.self, from: grant.request),
                            let bytes = try? CBOR.encode(Fan.Event.done(number))
                        else { return }
                        run.append(
                            Entry(
                                kind: .event, effect: grant.effect, attempt: grant.attempt, payload: bytes[...],
                                isLast: true))
                    }
                    precondition(peer.accept(run).refused.isEmpty, "the machine has not accepted every entry")
                }
                done += grants.count
                pair.turn()
                waiting += pair.takeRuns()
            }
            return (done, pair.meter.allocations)
        }
    }

    /// Events that are sent to a loop in its own process without subscribers.
    private static let inProcess = Budget(name: "in-process-event") { count in
        let loop = Loop(
            initial: 0, reducer: { (state: inout Int, event: Int) in state &+= event },
            feedbacks: [Feedback<Int, Int>]())
        for number in 0..<1024 { loop.send(number) }
        var meter = Meter()
        meter.isRunning = true
        meter.measure { for number in 0..<count { loop.send(number) } }
        return (count, meter.allocations)
    }
}
