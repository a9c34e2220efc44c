import LoopCollections
import LoopCore
import LoopWire
import Testing

@testable import LoopCluster
@testable import LoopNode

@Suite(.timeLimit(.minutes(5))) struct `Questions to the journal` {
    private static let refusal = JournalError(.misuse, operation: "be read", reason: "this is a test", remedy: "none")

    private static let newest = AdministrationAnswer.state(seq: 7, bytes: [])

    @Test func `are refused while replays are under way for others; records are read, and the newest state is shown`() {
        let (mayRead, answers) = (Monitor(false), Monitor<[UInt64: AdministrationAnswer]>([:]))
        let queries = JournalQueries(
            Jobs(),
            read: { _, _ throws(JournalError) in
                mayRead.wait(until: { $0 })
                throw Self.refusal
            },
            post: { mail in
                guard case .letter(.answer(let answer, let request)) = mail else { return }
                answers.withLock { $0[request.number] = answer }
                answers.broadcast()
            })
        func ask(_ number: UInt64, _ reading: JournalReading = .verify) -> String? {
            let request = JournalRequest(route: .router([1]), number: number, question: .read(reading))
            return queries.take(reading, for: request) { _, _ in { Self.newest } }
        }
        for number in 0..<4 { #expect(ask(UInt64(number)) == nil) }
        #expect(ask(4) == "the journal is being replayed for 4 other questions; ask again when one is answered")
        #expect(ask(20, .history(from: Seq(1), through: nil, after: nil)) == nil)
        for number in 5..<15 {
            #expect(ask(UInt64(number), .state(at: nil, StateSelection())) == nil)
            answers.wait(until: { $0[UInt64(number)] == Self.newest })
        }
        mayRead.withLock { $0 = true }
        mayRead.broadcast()
        answers.wait(until: { $0.count == 15 })
        #expect(answers.withLock { $0[0] == .refused("\(Self.refusal)") && $0[4] == nil })
        #expect(ask(15) == nil)
        answers.wait(until: { $0.count == 16 })
    }
}
