extension CaseGroup {
    /// Timers that fire a second while a million are set: each is an event in the journal, and sets another timer.
    static let timers = CaseGroup(
        unit: "timers/s", reference: nil,
        ours: [true, false].map { isDurable in
            Variant(name: isDurable ? "timers-durable-1000000" : "timers-1000000") { effort in
                try await effort.inFolder { folder in
                    let count = min(effort.count(300_000), Alarms.liveCount)
                    return try await withRoles { roles in
                        var arguments = ["loop": Alarms.name, "due": "\(count)"]
                        if isDurable { arguments["journal"] = "\(folder)/bench.journal" }
                        let reducer = try roles.start("reducer", arguments)
                        let began = try await reducer.number("began")
                        let finished = try await reducer.number("finished")
                        let outcome = try await reducer.answer("outcome")
                        guard outcome == "\(count) \(Alarms.liveCount)" else {
                            throw BenchmarkError.promise("\(count) timers were due, and the loop ended with \(outcome)")
                        }
                        return Double(count) / (finished - began)
                    }
                }
            }
        })
}
