import LoopCore

/// The faults of a run and their times: a function of the seed, the duration and the number of workers only.
///
/// Four sequences are drawn independently: faults of the reducer's process, of the workers' processes, of the network and
/// of the proxies. No target has two faults of one sort at once; faults of different sorts overlap freely. Kinds are drawn
/// from a bag that is refilled when it is empty, so that each has its share in every run.
package struct ChaosSchedule: Equatable, Sendable {
    /// The shortest run that has time for every kind and for a calm span.
    package static let durationMin = Duration.seconds(30)
    private static let durationLeast = Duration.seconds(5)

    package let seed: UInt64
    package let duration: Duration
    package let workers: Int
    package let clients: Int
    /// The number of servers of the journal's database; 0 for one reducer without a database.
    package let servers: Int
    /// The faults, in the order of their times.
    package internal(set) var faults: [Fault] = []
    /// Spans without a fault of the reducer, one in every half minute, in which its throughput is judged.
    package private(set) var calm: [Range<Duration>] = []

    /// - Parameters:
    ///   - duration: at least 5 s; below ``durationMin`` some kinds may be missing.
    ///   - workers: at least 2. The first connects to the reducer directly, the others through proxies.
    ///   - sparesReducer: whether the reducer's process has no faults.
    ///   - holds: whether a worker holds many effects, and is killed and terminated too.
    package init(
        seed: UInt64, duration: Duration, workers: Int = 3, clients: Int = 2, sparesReducer: Bool = false,
        holds: Bool = false
    ) {
        self.init(of: 0, seed: seed, duration: duration, workers: workers, clients: clients)
        var random = SeededRandom(seed: seed)
        drawCalm(&random)
        drawReducer(&random)
        if sparesReducer { faults = [] }
        drawWorkers(&random)
        drawNetwork(&random)
        drawProxies(&random)
        // Drawn last, so that everything else is independent of it.
        if holds { drawHolder(&random) }
        faults.sort { ($0.at, $0.target) < ($1.at, $1.target) }
    }

    /// Creates a schedule without faults.
    init(of servers: Int, seed: UInt64, duration: Duration, workers: Int, clients: Int) {
        self.seed = seed
        self.duration = max(duration, Self.durationLeast)
        self.workers = max(workers, 2)
        self.clients = max(clients, 1)
        self.servers = servers
    }

    /// Whether the target's traffic goes through a proxy.
    package static func isProxied(_ target: Target) -> Bool {
        target != .reducer && target != .worker(1) && target != .holder
    }

    /// The number of faults of each kind.
    package var counts: [FaultKind: Int] { faults.reduce(into: [:]) { $0[$1.kind, default: 0] += 1 } }

    /// The kinds of faults in such runs.
    package var kinds: [FaultKind] { servers > 0 ? FaultKind.ofDatabase(servers: servers) : FaultKind.ofOneReducer }

    // MARK: Drawing

    private static let period = Duration.seconds(30)
    private static let calmLength = Duration.milliseconds(7500)
    /// No fault begins later than this before the end, so that few last longer than the run.
    var lastBegin: Duration { duration - .milliseconds(2500) }

    private mutating func drawCalm(_ random: inout SeededRandom) {
        var begin = Duration.zero
        while begin + Self.period <= duration {
            let start = begin + random.duration(.seconds(3) ... .seconds(18))
            calm.append(start..<(start + Self.calmLength))
            begin += Self.period
        }
    }

    private mutating func drawReducer(_ random: inout SeededRandom) {
        var bag = Bag<Fault.Trouble>([.kill, .kill, .kill, .freeze, .terminate])
        var at = random.duration(.milliseconds(600) ... .milliseconds(1600))
        while true {
            let trouble = bag.draw(&random)
            let lasts =
                trouble == .freeze
                ? random.duration(.milliseconds(300) ... .milliseconds(1400))
                : random.duration(.milliseconds(100) ... .milliseconds(700))
            if let calm = calm.first(where: { at < $0.upperBound && at + lasts > $0.lowerBound }) {
                at = calm.upperBound + random.duration(.zero ... .milliseconds(300))
            }
            guard at <= lastBegin else { return }
            faults.append(Fault(at: at, lasts: lasts, target: .reducer, trouble: trouble))
            // Sometimes it is hit while it still recovers.
            let isEarly = random.next() % 4 == 0
            let pause = isEarly ? 20...200 : 1100...2300
            at += lasts + random.duration(.milliseconds(pause.lowerBound) ... .milliseconds(pause.upperBound))
        }
    }

    mutating func drawWorkers(_ random: inout SeededRandom) {
        var bag = Bag<Fault.Trouble>([.kill, .kill, .kill, .freeze, .terminate])
        let targets = (1...workers).map { Target.worker($0) }
        draw(every: .milliseconds(1000) ... .milliseconds(2200), at: targets, &random) { random, _ in
            let trouble = bag.draw(&random)
            let lasts =
                trouble == .freeze
                ? random.duration(.milliseconds(500) ... .milliseconds(2500))
                : random.duration(.milliseconds(100) ... .milliseconds(1500))
            return (trouble, lasts)
        }
    }

    /// Draws faults of the holder. It is never frozen or cut off, because its effects would rightly be given to others if
    /// the reducer restarted meanwhile. It lives long enough to see several restarts of the reducer.
    private mutating func drawHolder(_ random: inout SeededRandom) {
        var bag = Bag<Fault.Trouble>([.kill, .kill, .terminate])
        draw(every: .milliseconds(8000) ... .milliseconds(12_000), at: [.holder], &random) { random, _ in
            (bag.draw(&random), random.duration(.milliseconds(100) ... .milliseconds(1500)))
        }
    }

    mutating func drawNetwork(_ random: inout SeededRandom, others: [Target] = []) {
        var bag = Bag<Int>([0, 1, 2, 3])
        let targets = (1...workers).map { Target.worker($0) } + (1...clients).map { .client($0) } + others
        draw(every: .milliseconds(1200) ... .milliseconds(2600), at: targets, &random) { random, _ in
            let lasts = random.duration(.milliseconds(500) ... .milliseconds(2200))
            return switch bag.draw(&random) {
            case 0: (.loss(percent: Int(random.duration(.seconds(10) ... .seconds(40)).components.seconds)), lasts)
            case 1: (.partition(.toReducer), lasts)
            case 2: (.partition(.toPeer), lasts)
            default: (.partition(.both), lasts)
            }
        }
    }

    private mutating func drawProxies(_ random: inout SeededRandom) {
        var bag = Bag<Int>([0, 0, 1, 2, 3, 4, 4])
        let targets = (2...workers).map { Target.worker($0) } + (1...clients).map { .client($0) }
        draw(every: .milliseconds(700) ... .milliseconds(1500), at: targets, &random) { random, target in
            let kind = bag.draw(&random)
            // A worker that is stalled for longer than the silence limit reports attempts that others have by then.
            let isLong = if case .worker = target { kind == 2 } else { false }
            let shortest = Duration.milliseconds(isLong ? 1500 : 700)
            let lasts = random.duration(shortest ... .milliseconds(2200))
            return switch kind {
            case 0: (.delay(random.duration(.milliseconds(20) ... .milliseconds(250))), lasts)
            case 1: (.stall(.toReducer), lasts)
            case 2: (.stall(.toPeer), lasts)
            case 3: (.stall(.both), lasts)
            default: (.cut, .milliseconds(200))
            }
        }
    }

    /// Draws faults of one sort at targets, each of which has one fault at a time.
    mutating func draw(
        every pause: ClosedRange<Duration>, at targets: [Target], _ random: inout SeededRandom,
        _ draw: (inout SeededRandom, Target) -> (Fault.Trouble, Duration)
    ) {
        var busyUntil: [Target: Duration] = [:]
        var at = random.duration(.milliseconds(500) ... .milliseconds(1500))
        while true {
            var free = targets.filter { busyUntil[$0, default: .zero] <= at }
            if free.isEmpty {
                at = targets.compactMap { busyUntil[$0] }.min() ?? at
                free = targets.filter { busyUntil[$0, default: .zero] <= at }
            }
            guard at <= lastBegin else { return }
            let target = free[Int(random.next() % UInt64(free.count))]
            let (trouble, lasts) = draw(&random, target)
            faults.append(Fault(at: at, lasts: lasts, target: target, trouble: trouble))
            // A process that has restarted has a moment without faults.
            busyUntil[target] = at + lasts + .milliseconds(300)
            at += random.duration(pause)
        }
    }
}

/// Draws without replacement until the bag is empty, and then refills it.
struct Bag<Element> {
    private let all: [Element]
    private var left: [Element] = []

    init(_ all: [Element]) { self.all = all }

    mutating func draw(_ random: inout SeededRandom) -> Element {
        if left.isEmpty { left = all }
        return left.remove(at: Int(random.next() % UInt64(left.count)))
    }
}

extension SeededRandom {
    /// A time in the range, in whole milliseconds.
    mutating func duration(_ range: ClosedRange<Duration>) -> Duration {
        let low = range.lowerBound.wholeMilliseconds
        let high = range.upperBound.wholeMilliseconds
        return .milliseconds(low + Int64(next() % UInt64(max(0, high - low) + 1)))
    }
}
