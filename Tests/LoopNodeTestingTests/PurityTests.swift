import LoopCollections
import LoopCore
import LoopNode
import LoopNodeTesting
import Testing

/// A loop whose state depends on how often events were reduced in this process.
private struct Forgetful: LoopDefinition {
    struct State: Codable, Sendable {
        var marks: [Int] = []
    }

    enum Event: Codable, Sendable {
        case mark
        case nothing
    }

    static let name = "forgetful"
    let initial = State()
    let count = Locked(0)

    func reduce(into state: inout State, _ event: Event, _: Transition) {
        guard case .mark = event else { return }
        state.marks.append(
            count.withLock { count in
                count += 1
                return count
            })
    }

    var feedbacks: [Feedback<State, Event>] { [] }
}

@Suite(.timeLimit(.minutes(5))) struct `A definition that is not a function` {
    @Test func `is named in the log at its event, and found by verify at its seq`() async throws {
        let log = LogCollector()
        try await LocalCluster.run(Forgetful(), workers: 0, checksPurity: true, log: log.handler) { cluster in
            try await cluster.sendAndConfirm(.nothing)
            try await cluster.sendAndConfirm(.mark)
            let difference = try await cluster.ask(.verify, \.verified).difference
            #expect(difference?.hasPrefix("the state hash at seq 2 is ") == true)
            #expect(difference?.hasSuffix("they were last equal at seq 1") == true)
        }
        #expect(
            log.events.filter { $0.kind == .impure }.map(\.line) == [
                "reducer forgetful: the definition is not a function of its arguments: event 2, applied twice to the same"
                    + #" state, gave two states: {"marks":[1]} and {"marks":[2]}"#
            ])
    }
}
