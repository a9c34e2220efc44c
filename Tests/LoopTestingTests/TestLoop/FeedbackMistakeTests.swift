import LoopCore
import LoopTesting
import Testing

private struct Job: Codable, Sendable, Hashable {
    var urgency = 0
}

private struct Queue: Sendable, Equatable {
    var jobs: Set<Job> = []
}

/// A feedback whose modifier names another type than that of its requests.
@Suite struct `A modifier for requests of another type` {
    private typealias JobFeedback = Feedback<Queue, Int>

    private static let download: JobFeedback = .react("download", requests: \.jobs) { (_: Job) in .none }
    private static let remedy = "let the closure or the key path begin with Job"

    private static let mistaken: [(JobFeedback, String)] = [
        (download.priority(\String.count), "priority(_:) is for String; \(remedy)"),
        (download.grouped { (text: String) in text }, "grouped(by:) is for String; \(remedy)"),
        (download.fair { (text: String) in text }, "grouped(by:) is for String; \(remedy)"),
        (download.limited(perGroup: 1) { (text: String) in text }, "grouped(by:) is for String; \(remedy)"),
        (download.failing { (_: String, _) in 1 }, "failing(_:) is for String; \(remedy)"),
        (download.priority(\Job.urgency, step: .zero), "has a priority with a step of"),
        (.combine(download, download).priority(\Job.urgency), "has no requests"),
    ]

    @Test(arguments: 0..<7) func `fails the test of the loop, with the remedy`(index: Int) throws {
        let (feedback, text) = Self.mistaken[index]
        let failure = try #require(throws: TestLoopFailure.self) {
            try TestLoop.run(
                initial: Queue(), reducer: Reducer { _, _ in }, feedbacks: [feedback], mode: .selective
            ) { _ in }
        }
        #expect(failure.summary.contains(text) && failure.summary.contains("\"download"), "\(failure)")
    }

    @Test func `ends a loop in this process, in release builds too, where preconditions are silent`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let feedback: Feedback<Queue, Int> = .react("download", requests: \.jobs) { (_: Job) in .none }
            _ = Loop<Queue, Int>(
                initial: Queue(), reducer: { _, _ in }, feedbacks: [feedback.priority(\String.count)],
                clock: VirtualClock(), seed: 1)
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("has requests of type Job, and its priority(_:) is for String"))
    }
}
