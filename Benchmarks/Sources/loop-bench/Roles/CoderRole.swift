/// Encodes or decodes a value over and over.
enum CoderRole {
    /// With `times=N` does it so often and no more, for tools that count instructions.
    static func run(_ role: Role) throws {
        let name = try role.text("subject")
        guard let subject = CoderSubject(rawValue: name) else {
            throw BenchmarkError.usage("there is no value \(name) to code")
        }
        let work = try subject.work(role.text("coder"), role.text("task"))
        if let times = try? role.number("times") {
            for _ in 0..<times { _ = try work() }
        } else {
            try report(Double(try role.number("milliseconds")) / 1000, work)
        }
    }

    /// Says how often a second the work can be done; a fifth of the time warms up.
    private static func report(_ seconds: Double, _ work: CoderSubject.Work) throws {
        _ = try rate(seconds / 5, work)
        Role.say("rate", try rate(seconds, work))
    }

    private static func rate(_ seconds: Double, _ work: CoderSubject.Work) throws -> Double {
        let began = ProcessorTime.seconds
        var times = 0
        var total = 0
        // Asking for the time costs as much as coding a small value: it is asked seldom, then less seldom.
        var batch = 1
        while true {
            for _ in 0..<batch { total &+= try work() }
            times += batch
            let passed = ProcessorTime.seconds - began
            if passed >= seconds { break }
            batch = max(1, min(2 * batch, Int(Double(times) * (seconds - passed) / max(passed, 1e-6))))
        }
        guard total > 0 else { throw BenchmarkError.promise("nothing was coded") }
        return Double(times) / (ProcessorTime.seconds - began)
    }
}
