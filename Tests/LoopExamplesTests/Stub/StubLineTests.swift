import LoopExamples
import LoopTesting
import Testing

@Suite struct `A line to a stub` {
    @Test func `loses each third answer after the service has done its part`() async {
        let line = StubLine(latency: .zero, losing: 3)
        var answers: [String] = []
        for number in 1...7 {
            do { answers.append(try await line.ask { "answer \(number)" }) } catch { answers.append("\(error)") }
        }
        let lost = { (number: Int) in "no answer to request \(number); try again" }
        #expect(
            answers == ["answer 1", "answer 2", lost(3), "answer 4", "answer 5", lost(6), "answer 7"])
    }

    @Test func `does not bother the service with a question that is cancelled on its way`() async {
        let clock = VirtualClock()
        let line = StubLine(latency: .seconds(1), clock: clock)
        let asking = Task {
            try await line.ask { Issue.record("the service was asked") }
        }
        asking.cancel()
        await #expect(throws: CancellationError.self) { try await asking.value }
    }
}
