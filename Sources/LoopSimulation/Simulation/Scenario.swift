import LoopCore

/// The inputs that decide a run: the seed, how long faults come, and what a shrinker has left out.
package struct Scenario: Equatable, Sendable {
    package var seed: UInt64
    /// How long faults come, in virtual seconds.
    package var seconds: Int
    /// The milliseconds in addition to the seconds.
    package var milliseconds = 0
    /// The omitted faults, by their number in the order in which they are drawn.
    package var withoutFaults: Set<Int> = []
    /// The ways in which the plan is simpler than the seed's own.
    package var simpler: Set<Simplification> = []
    /// The mix of faults.
    package var mix = FaultMix.all
    /// How many messages a failure shows. It does not affect the run.
    package var transcriptLines = 40

    /// A simpler plan that a failure may survive.
    package enum Simplification: String, CaseIterable, Sendable {
        case oneClient = "one-client"
        case oneWorker = "one-worker"
        case noFailures = "no-failures"
        case noGarbage = "no-garbage"
        case fastNetwork = "fast-network"
        case fastDisk = "fast-disk"
        case fewEvents = "few-events"
        case noObservers = "no-observers"
        case noEnd = "no-end"
    }

    /// How long faults come.
    var duration: Duration { .seconds(seconds) + .milliseconds(milliseconds) }

    package init(seed: UInt64, seconds: Int = 58, mix: FaultMix = .all) {
        self.seed = seed
        self.seconds = seconds
        self.mix = mix
    }

    /// The generator of one fault. It does not depend on other faults, which may be omitted.
    func dice(of fault: Int) -> SeededRandom {
        var mix = SeededRandom(seed: seed ^ 0x5851_f42d_4c95_7f2d &* UInt64(fault + 1))
        return SeededRandom(seed: mix.next())
    }

    /// The simplifications as a list for people.
    var simplerText: String { simpler.map(\.rawValue).sorted().joined(separator: ",") }

    /// - Returns: the simplifications in the text, and its other words.
    package static func simplifications(_ text: String) -> (known: Set<Simplification>, unknown: [String]) {
        let words = text.split(separator: ",", omittingEmptySubsequences: false).map { String($0) }
        return (
            Set(words.compactMap { Simplification(rawValue: $0) }), words.filter { Simplification(rawValue: $0) == nil }
        )
    }

    /// The command that runs the scenario again.
    package var command: String {
        var words = ["loop-simulate --first-seed \(seed) --seeds 1"]
        if mix != .all { words.append("--mix \(mix)") }
        if seconds != Scenario(seed: seed).seconds { words.append("--seconds \(seconds)") }
        if !withoutFaults.isEmpty { words.append("--without-faults \(NumberRanges(withoutFaults))") }
        if !simpler.isEmpty { words.append("--simpler \(simplerText)") }
        return words.joined(separator: " ")
    }
}

extension SeededRandom {
    mutating func chance(_ share: Double) -> Bool { fraction() < share }

    /// A number between two limits, both included.
    mutating func between(_ least: UInt64, _ most: UInt64) -> UInt64 {
        most <= least ? least : UInt64.random(in: least...most, using: &self)
    }

    /// A duration between two limits, in nanoseconds.
    mutating func between(_ least: Duration, _ most: Duration) -> UInt64 {
        between(UInt64(least.wholeNanoseconds), UInt64(most.wholeNanoseconds))
    }

    /// A number from 0 up to, but not including, the count. A count of one draws nothing.
    mutating func pick(_ count: Int) -> Int { count == 1 ? 0 : Int.random(in: 0..<count, using: &self) }
}
