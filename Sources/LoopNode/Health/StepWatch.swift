import LoopCluster
import LoopCollections
import LoopCore

/// Looks fifty times a second at what the reducer's thread does, so that the metrics say which events and queries take its time.
/// The thread pays little for it, because it writes its crash note anyway.
final class StepWatch: Sendable {
    struct Figures: Sendable {
        /// How long events were reduced, by the names of their cases.
        var reduces: [String: Duration] = [:]
        /// How long queries have run, by their positions.
        var queries: [Int: Duration] = [:]
    }

    /// How often it looks.
    static let interval = Duration.milliseconds(20)
    /// The largest number of names of events, because each is a label of a metric. Later ones count as `other`.
    static let namesMax = 64
    /// The name of events beyond that number, and of those whose bytes show no case.
    static let otherName = "other"

    private let note = Locked<CrashNote?>(nil)
    private let content = Locked(Figures())

    /// The times since the process began.
    var figures: Figures { content.withLock { $0 } }

    /// Looks at this note from now on, or at none. A note in a mapped file must be taken away before the file is unmapped.
    func show(_ new: CrashNote?) { note.withLock { $0 = new } }

    /// What the thread does with an event at present, or nil if it does something else.
    var present: CrashNote.Step? { note.withLock { $0?.present } }

    /// Counts a time for what the thread does now.
    /// - Parameter time: the time since the last look.
    func look(after time: Duration) {
        guard let step = present else { return }
        content.withLock { figures in
            switch step.phase {
            case .reducing:
                let name = step.event ?? Self.otherName
                let isKnown = figures.reduces[name] != nil || figures.reduces.count < Self.namesMax
                figures.reduces[isKnown ? name : Self.otherName, default: .zero] += time
            case .query: figures.queries[step.query, default: .zero] += time
            case .decoding, .answering, .failing: break
            }
        }
    }

    /// Starts a thread that looks until the result is released.
    func start() throws(NodeError) -> WatchThread {
        try WatchThread("loop-steps") { goesOnAfter in
            var last = SystemClock.monotonic
            while goesOnAfter(Self.interval) {
                let now = SystemClock.monotonic
                // A process that was stopped has done nothing meanwhile.
                self.look(after: min(now - last, Self.interval * 5))
                last = now
            }
        }
    }
}
