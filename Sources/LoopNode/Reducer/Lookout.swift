import LoopCluster
import LoopCore
import LoopLock
import ZMQ

/// Asks the reducers of a list of addresses every few seconds, on a separate thread, which of them lead and in which history.
/// Two leaders with different journals cannot know of each other otherwise.
final class Lookout: Sendable {
    private static let interval = Duration.seconds(5)
    private static let limit = Duration.seconds(2)

    private let isOver = Monitor(false)
    private let found = Locked<[LeaderFound]>([])

    /// - Parameters:
    ///   - reducers: the addresses of all reducers of the loop.
    ///   - loop: the name of the loop. Leaders of other loops are ignored.
    ///   - own: the address of this reducer, which is not asked, or nil if it is not known.
    /// - Throws: `NodeError.system` if no thread can be started.
    init(
        _ reducers: ReducerAddress, loop: String, own: String?, context: ZMQContext?, _ log: NodeLog
    ) throws(NodeError) {
        let others = reducers.each.filter { $0.description != own }
        let (isOver, found) = (isOver, found)
        do throws(SystemError) {
            _ = try NodeThread("loop-lookout", stackBytes: 1 << 20) {
                guard let context = try? context ?? ZMQContext() else { return }
                var before: Set<LeaderFound> = []
                var refusals: Set<String> = []
                repeat {
                    var leaders: Set<LeaderFound> = []
                    for address in others {
                        do throws(Refusal) {
                            if let leader = try Self.leader(at: address, of: loop, context) { leaders.insert(leader) }
                        } catch let why where refusals.insert(why.reason).inserted {
                            log.note(
                                .badAddress,
                                "the reducer at \(address) cannot be asked whether it leads: \(why.reason)",
                                [.address("\(address)"), .reason(why.reason)])
                        } catch { continue }
                    }
                    // An answer may be outdated by a change, so only leaders that were seen twice are reported.
                    let lasting = leaders.intersection(before).sorted { $0.address < $1.address }
                    found.withLock { $0 = lasting }
                    before = leaders
                } while !isOver.wait(until: { $0 }, timeout: Self.interval)
            }
        } catch {
            throw .system("\(error)")
        }
    }

    /// The leaders that were found in the last two rounds.
    var leaders: [LeaderFound] { found.withLock { $0 } }

    /// The other reducer does not answer questions of this one.
    private struct Refusal: Error { let reason: String }

    /// - Returns: the leader, or nil if nothing runs there, or a standby that knows no leader.
    private static func leader(
        at address: ReducerAddress, of loop: String, _ context: ZMQContext
    ) throws(Refusal) -> LeaderFound? {
        do {
            let member = try StatusProbe.leader(of: address, within: limit, context: context)
            guard member.report.loop == loop, member.state.history != .none else { return nil }
            return LeaderFound(
                address: member.address.description, history: member.state.history,
                epoch: member.state.epoch)
        } catch NodeError.refused(let why) {
            throw Refusal(reason: why)
        } catch {
            return nil
        }
    }

    deinit {
        isOver.withLock { $0 = true }
        isOver.broadcast()
    }
}
