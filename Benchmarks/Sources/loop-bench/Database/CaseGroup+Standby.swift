import CBOR
import LoopNode
import LoopWire

extension CaseGroup {
    /// A standby that follows the journal of a leader, to which 50,000 events a second come: how old its state is at the worst, and
    /// how much processor time it takes for a second of the leader's. One run gives both figures.
    static let standby: [CaseGroup] = {
        let run = SingleRun { try await StandbyRun.run(seconds: max(2, 20 * $0.scale)) }
        return [
            CaseGroup(
                unit: "ms", reference: nil,
                ours: [Variant(name: "standby-lag-longest") { try await run.figures($0).lag }], rounds: 1),
            CaseGroup(
                unit: "CPU s", reference: nil,
                ours: [Variant(name: "standby-processor") { try await run.figures($0).processor }], rounds: 1),
        ]
    }()
}

private enum StandbyRun {
    struct Figures: Sendable {
        var lag = 0.0
        var processor = 0.0
    }

    /// What is read of a standby's status.
    private struct Report: Decodable {
        struct Following: Decodable {
            var lagMilliseconds: Int64?
        }

        /// Nil where standbys follow nothing.
        var following: Following?
    }

    private static let rate = 50_000

    static func run(seconds: Double) async throws -> Figures {
        try await withRoles { roles in
            var pair = try await ReducerPair(of: PackedEvent.word, roles)
            try await pair.startStandby()
            guard let standby = pair.standby, try report(of: pair) != nil else {
                throw BenchmarkError.leftOut("standbys of this version do not follow the journal")
            }
            let sender = try roles.start(
                "sender",
                [
                    "loop": PackedEvent.word, "reducer": pair.reducers, "window": "4096", "warm-up": "\(rate)",
                    "count": "\(Int(seconds) * rate)", "rate": "\(rate)",
                ])
            _ = try await sender.answer("began")
            let clocks = try [pair.leader, standby].map { try ProcessorTime.Clock(of: $0.processID) }
            let began = clocks.map(\.seconds)
            let ends = MonotonicTime.seconds + seconds - 0.5
            var lags: [Double] = []
            while MonotonicTime.seconds < ends {
                if let lag = try report(of: pair)?.lagMilliseconds { lags.append(Double(lag)) }
                try await Task.sleep(for: .milliseconds(50))
            }
            let used = zip(clocks, began).map { $0.seconds - $1 }
            let took = try await sender.number("seconds")
            _ = try await sender.answer("checked")
            guard took < seconds * 1.05 else {
                throw BenchmarkError.role("the loop has not kept up with \(rate) events a second: it took \(took) s")
            }
            guard let longest = lags.max() else {
                throw BenchmarkError.promise("the standby has never had all that was in the journal")
            }
            return Figures(lag: longest, processor: used[1] / used[0])
        }
    }

    private static func report(of pair: ReducerPair) throws -> Report.Following? {
        let status = try StatusProbe.ask(ReducerAddress(parsing: pair.standbyAddress))
        return try CBOR.decode(Report.self, from: CBOR.encode(status)).following
    }
}
