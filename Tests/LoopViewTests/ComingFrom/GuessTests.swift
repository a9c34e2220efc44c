import Testing

/// What new users wrote first. Each line compiles, or the compiler says what to write instead.
@Suite(.timeLimit(.minutes(5))) struct `Guesses of new users` {
    private static let declarations = """
        import LoopCore
        struct Job: Codable, Hashable, Sendable { var urgency = 0, host = "", isDone = false }
        struct Queue: Codable, Sendable { var jobs: TrackedDictionary<String, Job> = [:] }
        enum Happened: Codable, Sendable { case done(String), failed(Job, String) }
        typealias Feedbacks = [Feedback<Queue, Happened>]

        """

    /// The modifiers and closures of a feedback of the jobs.
    private static func line(_ requests: String, _ effect: String, _ modifiers: String = "") -> String {
        "func feedbacks() -> Feedbacks { [.react(\"work\", \(requests)) \(effect)\(modifiers)] }"
    }

    private static let jobs = #"requests: \.jobs"#
    private static let done = "{ job in .event(.done(job.host)) }"

    @Test(arguments: [
        (jobs, done, #".on(.workers(group: "gpu"))"#),
        (jobs, done, #".failing { job, error in .failed(job, "\(error)") }"#),
        (jobs, done, #".failing { job, error in let text = "\(error)"; return .failed(job, text) }"#),
        (jobs, done, #".priority(\Job.urgency).grouped(by: \Job.host)"#),
        (jobs, "{ job, context in .event(.done(context.idempotencyKey)) }", ".on(.workers)"),
        (
            #"each: \.jobs, request: { key, job in job.isDone ? nil : key }"#, "{ key in .event(.done(key)) }",
            ".timeout(.seconds(1))"
        ),
    ])
    func `compile`(requests: String, effect: String, modifiers: String) throws {
        let text = Self.declarations + Self.line(requests, effect, modifiers) + "\n"
        #expect(try `Names that are unavailable`.errors(in: text).map(\.text) == [])
    }

    @Test(arguments: [
        (jobs, "{ key, job in .event(.done(key + job.host)) }", "", "Let the request have the key: each:"),
        (
            "requests: { $0.jobs.filter { !$0.value.isDone } }", done, "",
            #"Name the stored dictionary: requests: \.jobs"#
        ),
        (
            "requests: { $0.jobs.filter { !$0.value.isDone } }",
            "{ job, context in .event(.done(context.idempotencyKey)) }", "",
            #"Name the stored dictionary: requests: \.jobs"#
        ),
        (jobs, done, #".priority(\.urgency)"#, "consider explicitly specifying a root type"),
        (jobs, done, #".on(.workers("gpu"))"#, "missing argument label 'group:' in call"),
    ])
    func `are refused with the remedy`(requests: String, effect: String, modifiers: String, hint: String) throws {
        let text = Self.declarations + Self.line(requests, effect, modifiers) + "\n"
        let errors = try `Names that are unavailable`.errors(in: text).map(\.text)
        #expect(errors.contains { $0.contains(hint) }, "\(errors)")
    }
}
