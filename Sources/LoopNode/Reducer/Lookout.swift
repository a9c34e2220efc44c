import LoopCluster
import LoopCollections
import ZMQ

/// Asks the reducers of a list of addresses every few seconds, on a separate thread, which of them lead and in which history.
/// Two leaders with different journals cannot know of each other otherwise.
final class Lookout: Sendable {
    private static let interval = Duration.seconds(5)
    private static let limit = Duration.seconds(2)

    private let sightings: Locked<LeaderSightings>
    private let thread: WatchThread

    /// - Parameters:
    ///   - reducers: the addresses of all reducers of the loop.
    ///   - loop: the name of the loop. Leaders of other loops are ignored.
    ///   - own: the address of this reducer, which is not asked, or nil if it is not known.
    /// - Throws: `NodeError.system` if no thread can be started.
    init(
        _ reducers: ReducerAddress, loop: String, own: String?, context: ZMQContext?, _ log: NodeLog
    ) throws(NodeError) {
        let others = reducers.each.filter { $0.description != own }
        let sightings = Locked(LeaderSightings())
        self.sightings = sightings
        thread = try WatchThread("loop-lookout") { goesOnAfter in
            guard let context = try? context ?? ZMQContext() else { return }
            var refusals: Set<String> = []
            repeat {
                let start = sightings.withLock { $0.start }
                var answers: [String: LeaderSightings.Answer] = [:]
                for address in others {
                    do throws(NodeError) {
                        answers[address.description] = try Self.answer(at: address, of: loop, context)
                    } catch let error where refusals.insert("\(error)").inserted {
                        log.note(
                            .badAddress,
                            "the reducer at \(address) cannot be asked whether it leads: \(error)",
                            [.address("\(address)"), .reason("\(error)")])
                    } catch { continue }
                }
                sightings.withLock { $0.take(answers, since: start) }
            } while goesOnAfter(Self.interval)
        }
    }

    /// The leaders that the last rounds have found.
    var leaders: [LeaderFound] { sightings.withLock { $0.leaders } }

    /// Forgets the leaders that were seen before this reducer leads. Its predecessor is among them.
    func forget() { sightings.withLock { $0.forget() } }

    /// - Throws: `NodeError.refused` if the other reducer does not answer questions of this one.
    private static func answer(
        at address: ReducerAddress, of loop: String, _ context: ZMQContext
    ) throws(NodeError) -> LeaderSightings.Answer {
        do {
            let member = try StatusProbe.leader(of: address, within: limit, context: context)
            guard member.report.loop == loop, member.state.history != .none else { return .noLeader }
            return .leader(
                LeaderFound(
                    address: member.address.description, history: member.state.history,
                    epoch: member.state.epoch))
        } catch NodeError.refused(let why) {
            throw .refused(why)
        } catch NodeError.noAnswer(_, _, _?) {
            return .noLeader
        } catch {
            return .silence
        }
    }
}

/// The leaders that a lookout has seen in its rounds. A pure machine.
struct LeaderSightings {
    /// The answer at one address.
    enum Answer: Equatable {
        /// This reducer leads.
        case leader(LeaderFound)
        /// It is no reducer of the loop, or a standby that knows no leader.
        case noLeader
        /// No answer has come in time, or nothing runs there.
        case silence
    }

    /// The leaders of the last round, by the address that was asked.
    private var before: [String: LeaderFound] = [:]
    /// Those that were reported.
    private var lasting: [String: LeaderFound] = [:]
    /// The addresses without an answer in the last round.
    private var silent: Set<String> = []
    /// How often what was seen was forgotten.
    private(set) var start = 0

    /// The leaders that were seen in two rounds, because one answer may be outdated by a change. They stay through one round
    /// without an answer, which may only be late.
    var leaders: [LeaderFound] { Set(lasting.values).sorted { $0.address < $1.address } }

    /// Forgets all leaders, and the answers to questions that were asked before.
    mutating func forget() {
        (before, lasting, silent) = ([:], [:], [])
        start += 1
    }

    /// Takes the answers of a round, by address.
    /// - Parameter start: the value of `start` before the round. Answers of a round before the last `forget` are ignored.
    mutating func take(_ answers: [String: Answer], since start: Int) {
        guard start == self.start else { return }
        var seen: [String: LeaderFound] = [:]
        var kept: [String: LeaderFound] = [:]
        for (address, answer) in answers {
            switch answer {
            case .leader(let leader):
                seen[address] = leader
                if before.values.contains(leader) { kept[address] = leader }
            case .silence where !silent.contains(address):
                seen[address] = lasting[address]
                kept[address] = lasting[address]
            case .silence, .noLeader: break
            }
        }
        (before, lasting) = (seen, kept)
        silent = Set(answers.filter { $0.value == .silence }.keys)
    }
}
