import Testing

@testable import LoopChaos

@Suite struct `A chaos schedule` {
    @Test func `is a function of the seed, the duration and the workers`() {
        for seed in UInt64(0)..<20 {
            let schedule = ChaosSchedule(seed: seed, duration: .seconds(60))
            #expect(schedule == ChaosSchedule(seed: seed, duration: .seconds(60)))
            #expect(schedule.faults != ChaosSchedule(seed: seed + 1, duration: .seconds(60)).faults)
            #expect(schedule.faults != ChaosSchedule(seed: seed, duration: .seconds(60), workers: 5).faults)
        }
    }

    @Test func `is the same in every process and on every day`() {
        let schedule = ChaosSchedule(seed: 7, duration: .seconds(30))
        #expect(schedule.faults.prefix(3).map(\.description) == Self.firstOfSeed7)
    }

    @Test func `has every kind of fault within half a minute, whatever the seed`() {
        for seed in UInt64(0)..<500 {
            let counts = ChaosSchedule(seed: seed, duration: ChaosSchedule.durationMin).counts
            for kind in FaultKind.ofOneReducer {
                #expect(counts[kind] ?? 0 > 0, "seed \(seed) has no \(kind.rawValue)")
            }
        }
    }

    @Test(arguments: [1, 3])
    func `of a database has every kind of fault within a minute and a half, whatever the seed`(servers: Int) {
        for seed in UInt64(0)..<100 {
            let schedule = ChaosSchedule(database: servers, seed: seed, duration: .seconds(90))
            #expect(schedule == ChaosSchedule(database: servers, seed: seed, duration: .seconds(90)))
            for kind in schedule.kinds {
                #expect(schedule.counts[kind] ?? 0 > 0, "seed \(seed) has no \(kind.rawValue)")
            }
            #expect(schedule.counts.keys.allSatisfy(schedule.kinds.contains))
            var busyUntil: [String: Duration] = [:]
            for fault in schedule.faults {
                #expect(fault.at >= busyUntil[fault.lane, default: .zero], "seed \(seed): \(fault)")
                busyUntil[fault.lane] = fault.end
            }
        }
    }

    @Test func `has a hundred kills within five minutes, whatever the seed`() {
        for seed in UInt64(0)..<100 {
            let counts = ChaosSchedule(seed: seed, duration: .seconds(300)).counts
            #expect((counts[.reducerKilled] ?? 0) + (counts[.workerKilled] ?? 0) >= 100, "seed \(seed)")
            #expect(counts[.reducerKilled] ?? 0 >= 25, "seed \(seed)")
        }
    }

    @Test func `never has two faults of one sort at one target at once, and is in order`() {
        for seed in UInt64(0)..<100 {
            let schedule = ChaosSchedule(seed: seed, duration: .seconds(90))
            #expect(schedule.faults.map(\.at) == schedule.faults.map(\.at).sorted())
            var busyUntil: [String: Duration] = [:]
            for fault in schedule.faults {
                #expect(fault.at >= busyUntil[fault.lane, default: .zero], "seed \(seed): \(fault)")
                busyUntil[fault.lane] = fault.end
                #expect(!fault.lane.hasPrefix("proxy") || ChaosSchedule.isProxied(fault.target))
                #expect(fault.at >= .zero && fault.at < schedule.duration && fault.lasts > .zero)
            }
        }
    }

    @Test func `leaves the reducer alone in a calm of every half minute`() {
        for seed in UInt64(0)..<100 {
            let schedule = ChaosSchedule(seed: seed, duration: .seconds(90))
            #expect(schedule.calm.count == 3)
            for calm in schedule.calm {
                #expect(calm.upperBound - calm.lowerBound > Throughput.windowLength + Throughput.recovery)
                for fault in schedule.faults where fault.kind.isOfReducer {
                    #expect(fault.end <= calm.lowerBound || fault.at >= calm.upperBound, "seed \(seed): \(fault)")
                }
            }
        }
    }

    @Test func `can spare the reducer only`() {
        let schedule = ChaosSchedule(seed: 3, duration: .seconds(30), sparesReducer: true)
        let whole = ChaosSchedule(seed: 3, duration: .seconds(30))
        #expect(schedule.faults == whole.faults.filter { !$0.kind.isOfReducer })
        #expect(schedule.faults.count < whole.faults.count)
    }

    @Test func `kills the holder of many effects, never freezes or cuts it off, and changes nothing else for it`() {
        for seed in UInt64(0)..<100 {
            let schedule = ChaosSchedule(seed: seed, duration: .seconds(30), holds: true)
            let ofHolder = schedule.faults.filter { $0.target == .holder }
            #expect(ofHolder.count >= 2, "seed \(seed)")
            #expect(ofHolder.allSatisfy { $0.trouble == .kill || $0.trouble == .terminate })
            #expect(ofHolder.contains { $0.trouble == .kill })
            let others = schedule.faults.filter { $0.target != .holder }
            #expect(others == ChaosSchedule(seed: seed, duration: .seconds(30)).faults)
        }
    }

    private static let firstOfSeed7 = [
        "0.822 s  stall client-2 to the reducer for 1.912 s", "1.051 s  kill reducer, away for 0.218 s",
        "1.331 s  partition client-2 to the peer for 2.142 s",
    ]
}
