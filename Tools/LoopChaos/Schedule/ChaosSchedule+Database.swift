import LoopCore

// Schedules of runs in which several reducers have their journal in a database.
extension ChaosSchedule {
    /// The number of observers that follow such a run.
    package static let observers = 2

    /// - Parameter servers: the number of the database's servers: 1, or 3 of which two must have each append.
    package init(database servers: Int, seed: UInt64, duration: Duration, workers: Int = 3, clients: Int = 2) {
        self.init(of: servers, seed: seed, duration: duration, workers: workers, clients: clients)
        var random = SeededRandom(seed: seed)
        drawReducers(&random)
        drawServers(&random)
        drawPaths(&random)
        drawWorkers(&random)
        drawNetwork(&random, others: (1...Self.observers).map { .observer($0) })
        faults.sort { ($0.at, $0.target) < ($1.at, $1.target) }
    }

    /// Draws faults of the reducers, one after the other. A fault of the leader finds the leader when it begins.
    private mutating func drawReducers(_ random: inout SeededRandom) {
        var bag = Bag<(Target, Fault.Trouble)>([
            (.leader, .kill), (.leader, .freeze), (.leader, .terminate), (.leader, .partition(.both)),
            (.leader, .severed),
            (.standby, .kill), (.standby, .freeze), (.standby, .partition(.both)),
        ])
        var at = random.duration(.milliseconds(800) ... .milliseconds(1600))
        while at <= lastBegin {
            let (target, trouble) = bag.draw(&random)
            let isAway = trouble == .kill || trouble == .terminate
            // Reducers are frozen and cut off for less and for more than the lease.
            let lasts = random.duration(
                isAway ? .milliseconds(100) ... .milliseconds(1500) : .milliseconds(400) ... .milliseconds(3000))
            faults.append(Fault(at: at, lasts: lasts, target: target, trouble: trouble))
            // Sometimes the next reducer is hit while the last one still recovers.
            let isEarly = random.next() % 3 == 0
            at +=
                lasts
                + random.duration(
                    isEarly ? .milliseconds(20) ... .milliseconds(300) : .milliseconds(600) ... .milliseconds(2200))
        }
    }

    /// Draws faults of the servers, one after the other, with recovery in between. Two simultaneous failures, which block a
    /// quorum of three, are kinds of their own.
    private mutating func drawServers(_ random: inout SeededRandom) {
        var failovers = Bag<Fault.Trouble>(
            servers > 1 ? [.kill, .freeze, .partition(.both), .blackout] : [.kill, .freeze, .partition(.both)])
        var others = Bag<Fault.Trouble>([.kill, .freeze, .partition(.both), .noQuorum])
        var at = random.duration(.milliseconds(1500) ... .milliseconds(3000))
        var isFailover = random.next() % 2 == 0
        while at <= lastBegin {
            let trouble = isFailover || servers == 1 ? failovers.draw(&random) : others.draw(&random)
            let target: Target = isFailover || servers == 1 ? .primary : .replica
            // The quorum is missing for less and for more than a statement's deadline.
            let longest: Int64 = trouble == .noQuorum ? 7000 : 2500
            let lasts = random.duration(.milliseconds(300) ... .milliseconds(longest))
            faults.append(Fault(at: at, lasts: lasts, target: target, trouble: trouble))
            // The promotion, the return of the old primary and the copy of the new one's files take some seconds.
            let whole: Duration = target == .primary && servers > 1 ? .milliseconds(4500) : .milliseconds(500)
            at += lasts + whole + random.duration(.milliseconds(500) ... .milliseconds(2500))
            isFailover.toggle()
        }
    }

    /// Draws faults of the leader's connection to the database, which may occur in the middle of an append.
    private mutating func drawPaths(_ random: inout SeededRandom) {
        var bag = Bag<Int>([0, 0, 1, 2, 3, 4, 4, 4])
        draw(every: .milliseconds(1500) ... .milliseconds(3500), at: [.leader], &random) { random, _ in
            let lasts = random.duration(.milliseconds(300) ... .milliseconds(2000))
            return switch bag.draw(&random) {
            case 0: (.delay(random.duration(.milliseconds(10) ... .milliseconds(150))), lasts)
            case 1: (.stall(.toReducer), lasts)
            case 2: (.stall(.toPeer), lasts)
            case 3: (.stall(.both), lasts)
            default: (.cut, .milliseconds(200))
            }
        }
    }
}
