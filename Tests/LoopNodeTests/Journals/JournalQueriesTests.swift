import LoopLock
import LoopWire
import Testing

@testable import LoopCluster
@testable import LoopNode

@Suite(.timeLimit(.minutes(5))) struct `Questions to the journal` {
    private static let refusal = JournalError(.misuse, operation: "be read", reason: "this is a test", remedy: "none")

    @Test func `wait for a thread where many ask, and none is refused`() {
        let (mayRead, answers) = (Monitor(false), Monitor<[UInt64]>([]))
        let queries = JournalQueries(
            Jobs(),
            read: { _, _ throws(JournalError) in
                mayRead.wait(until: { $0 })
                throw Self.refusal
            },
            post: { mail in
                guard case .answer(let request, .refused("\(Self.refusal)")) = mail else { return }
                answers.withLock { $0.append(request.number) }
                answers.broadcast()
            })
        func ask(_ number: UInt64) -> String? {
            let request = JournalRequest(route: .router([1]), number: number, question: .read(.verify))
            return queries.take(.verify, for: request) { _ in { .refused("") } }
        }
        for number in 0..<40 { #expect(ask(UInt64(number)) == nil) }
        mayRead.withLock { $0 = true }
        mayRead.broadcast()
        answers.wait(until: { $0.count == 40 })
        #expect(answers.withLock { $0.sorted() } == Array(0..<40))
        #expect(ask(40) == nil)
        answers.wait(until: { $0.count == 41 })
    }

    @Test func `are refused with what is full if too many wait`() {
        let mayRead = Monitor(false)
        let queries = JournalQueries(
            Jobs(),
            read: { _, _ throws(JournalError) in
                mayRead.wait(until: { $0 })
                throw Self.refusal
            }, post: { _ in })
        let request = JournalRequest(route: .router([1]), number: 1, question: .read(.verify))
        var refusal: String?
        for _ in 0..<300 where refusal == nil {
            refusal = queries.take(.verify, for: request) { _ in { .refused("") } }
        }
        #expect(
            refusal == "256 questions for history, state or verify wait for this reducer's 4 threads; ask again")
        mayRead.withLock { $0 = true }
        mayRead.broadcast()
    }
}
