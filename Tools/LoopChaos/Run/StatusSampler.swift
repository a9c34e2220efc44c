import LoopCollections
import LoopCore
import LoopNode
import LoopWire
import ZMQ

/// The reducer's report about itself at one moment.
struct StatusSample: Equatable, Sendable, CustomStringConvertible {
    /// The time since the beginning.
    var at: Duration
    var history: String
    var epoch: UInt64
    var seq: UInt64

    var description: String { "\(at.shown)  epoch \(epoch) seq \(seq)" }
}

/// Requests the reducer's status repeatedly, on a thread in its own network.
final class StatusSampler: Sendable {
    private struct Heard {
        var samples: [StatusSample] = []
        /// The last report of each epoch, whose counters begin at zero.
        var last: [String: StatusReport] = [:]
        /// The names of peers that held an effect.
        var working: Set<String> = []
    }

    private let heard = Locked(Heard())
    private let isOver = Monitor(false)
    private let thread: NodeThread

    /// - Parameter begin: the origin of the samples' times.
    init(reducer: ReducerAddress, space: NetworkSpace, begin: MonotonicTime) throws {
        let (heard, isOver) = (heard, isOver)
        thread = try NodeThread("chaos-sampler") {
            // Other threads have entered the namespace, so it exists. Without it every sample would be missing, which is noticed.
            try? space.enter()
            guard let context = try? ZMQContext() else { return }
            repeat {
                // A reducer without a journal has no seq.
                if let report = try? StatusProbe.ask(reducer, within: .milliseconds(500), context: context),
                    !report.history.isEmpty
                {
                    let sample = StatusSample(
                        at: SystemClock.monotonic - begin, history: report.history, epoch: report.epoch,
                        seq: report.seq)
                    heard.withLock { heard in
                        heard.samples.append(sample)
                        heard.last["\(report.history) \(report.epoch)"] = report
                        for peer in report.peers where peer.leases > 0 { heard.working.insert(peer.name) }
                    }
                }
                // Ten samples a second, polled because a reducer does not publish its status.
            } while !isOver.wait(until: { $0 }, timeout: .milliseconds(100))
        }
    }

    var samples: [StatusSample] { heard.withLock { $0.samples } }
    /// The names of peers that held an effect in a sample.
    var working: Set<String> { heard.withLock { $0.working } }

    /// The sum of the last known counters of each epoch.
    var counters: [String: UInt64] {
        heard.withLock { heard in
            heard.last.values.reduce(into: [:]) { sum, report in
                for (name, value) in report.counters { sum[name, default: 0] += value }
            }
        }
    }

    func stop() async {
        isOver.withLock { $0 = true }
        isOver.broadcast()
        await thread.join()
    }
}
