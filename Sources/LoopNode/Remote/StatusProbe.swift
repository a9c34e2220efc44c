import CBOR
import LoopCore
package import LoopWire
package import ZMQ

/// Asks a reducer of any loop for its status. Blocks; for tools and health checks.
package enum StatusProbe {
    /// Asks the reducer at an address. If there are several addresses, all are asked, and the leader's answer counts.
    /// - Parameters:
    ///   - reducer: the reducer to ask.
    ///   - limit: how long an answer may take.
    ///   - context: the context of the sockets, or nil for one of its own.
    /// - Returns: the leader's report. A standby's if no leader answers in time, or if the only address is a standby's.
    /// - Throws: `NodeError.noAnswer` if no answer came.
    package static func ask(
        _ reducer: ReducerAddress, within limit: Duration = .seconds(2), context: ZMQContext? = nil
    ) throws -> StatusReport {
        let isAlone = reducer.endpoints.count == 1
        let members = try ask(reducer, isAlone ? .anyone : .leader, within: limit, context)
        return (members.filter(\.isLeader).min { $0.leads(before: $1) } ?? members[0]).report
    }

    /// Asks all reducers of a loop: those at the addresses, and the leader that a standby names.
    /// - Parameter limit: how long the answers may take. Once the leader has answered, the others have a fifth of it.
    /// - Returns: those that have answered, at least one, the leader first.
    /// - Throws: `NodeError.noAnswer` if no answer came.
    package static func members(
        of reducer: ReducerAddress, within limit: Duration, context: ZMQContext? = nil
    ) throws -> [Member] {
        let members = try ask(reducer, .everyone, within: limit, context)
        let leaders = members.filter(\.isLeader).sorted { $0.leads(before: $1) }
        return leaders + members.filter { !$0.isLeader }
    }

    /// Finds the reducer that leads.
    /// - Throws: `NodeError.noAnswer` if no reducer has answered, or only standbys.
    package static func leader(
        of reducer: ReducerAddress, within limit: Duration, context: ZMQContext? = nil
    ) throws -> Member {
        let members = try ask(reducer, .leader, within: limit, context)
        if let leader = members.filter(\.isLeader).min(by: { $0.leads(before: $1) }) { return leader }
        throw NodeError.noAnswer(reducer, after: limit, because: reasons(members))
    }

    /// Finds the reducer that leads and knows its state, and so not one whose journal is unusable at the moment.
    /// - Throws: `NodeError.noAnswer` if none has answered in time, with the reason of a leader that is not ready.
    package static func readable(
        of reducer: ReducerAddress, within limit: Duration, context: ZMQContext? = nil
    ) throws -> Member {
        let members = try ask(reducer, .readable, within: limit, context)
        if let leader = members.filter(\.isReadable).min(by: { $0.leads(before: $1) }) { return leader }
        let reason = members.lazy.filter(\.isLeader).compactMap(\.report.notReadyText).first
        throw NodeError.noAnswer(
            reducer, after: limit, because: reason ?? reasons(members))
    }

    /// Says why the reducers that have answered do not lead.
    private static func reasons(_ members: [Member]) -> String {
        "only standbys answer: "
            + members.map { "\($0.address): \($0.report.notReadyText ?? "no reason")" }.joined(separator: "; ")
    }

    /// A reducer that has answered.
    package struct Member: Sendable {
        /// The address at which it was asked.
        package let address: ReducerAddress
        package let report: StatusReport
        /// Its newest state, from the header of its answer and the report.
        package let state: StateID

        package init(address: ReducerAddress, report: StatusReport, state: StateID = .none) {
            self.address = address
            self.report = report
            self.state = state
        }

        package var isLeader: Bool { !report.isStandby }

        /// Whether it leads and knows its state. Without its journal, a reducer answers with no history.
        var isReadable: Bool { isLeader && state.history != .none }

        /// Orders reducers that claim to lead: a ready one comes before a deposed one, then the newer epoch.
        func leads(before other: Member) -> Bool {
            if report.isReady != other.report.isReady { return report.isReady }
            return report.epoch > other.report.epoch
        }
    }

    /// The reducers whose answers are needed.
    private enum Wanted { case anyone, leader, readable, everyone }

    /// The status request at one address.
    private final class Question {
        let address: ReducerAddress
        var dealer: DialledSocket
        private(set) var member: Member?

        init(_ address: ReducerAddress, _ context: ZMQContext, _ polls: inout PollSet) throws(ZMQError) {
            let dealer = try DialledSocket(address.reachable(), .questions, in: context)
            _ = dealer.add(to: &polls)
            self.address = address
            self.dealer = dealer
        }

        /// Sends the request, unless this reducer has answered as a leader that knows its state.
        func ask() throws {
            guard member?.isReadable != true else { return }
            _ = try dealer.send(ToReducer.statusRequest.bytes(loop: LoopID(value: 0)))
        }

        func read(_ message: inout Message, at now: MonotonicTime) throws {
            try dealer.readEventsIfAdmitted(at: now)
            while try dealer.socket.receive(into: &message) {
                let frame = try PeerFrame(bytes: message.copy()[...])
                switch frame.message {
                case .status(let document):
                    let report = try CBOR.decode(StatusReport.self, from: document)
                    let state = StateID(history: frame.history, epoch: frame.epoch, seq: Seq(report.seq))
                    member = Member(address: address, report: report, state: state)
                case .refused(let refused, _): throw NodeError.refused(refused.description)
                default: continue
                }
            }
        }
    }

    private static func ask(
        _ reducer: ReducerAddress, _ wanted: Wanted, within limit: Duration, _ context: ZMQContext?
    ) throws -> [Member] {
        let context = try context ?? ZMQContext()
        var polls = PollSet()
        var questions: [Question] = []
        for address in reducer.each { questions.append(try Question(address, context, &polls)) }
        var message = Message()
        var deadline = SystemClock.monotonic + limit
        var asksAt = MonotonicTime.zero
        while true {
            let now = SystemClock.monotonic
            for question in questions { try question.read(&message, at: now) }
            let members = questions.compactMap(\.member)
            if isEnough(members, of: questions.count, wanted) { return members }
            if wanted == .everyone, members.contains(where: \.isLeader) { deadline = min(deadline, now + limit / 5) }
            guard now < deadline else {
                if !members.isEmpty { return members }
                throw silence(of: reducer, questions, limit)
            }
            if wanted != .anyone, let address = unknownLeader(members, questions, reducer) {
                questions.append(try Question(address, context, &polls))
                asksAt = now
            }
            // If a turn's journal fails, a request read in it is lost, so the request is sent again.
            if now >= asksAt {
                for question in questions { try question.ask() }
                asksAt = now + .milliseconds(500)
            }
            let next = questions.reduce(min(asksAt, deadline)) { min($0, $1.dealer.deadline) }
            try polls.wait(milliseconds: SystemClock.milliseconds(from: now, until: next))
        }
    }

    private static func isEnough(_ members: [Member], of count: Int, _ wanted: Wanted) -> Bool {
        switch wanted {
        case .anyone: !members.isEmpty
        case .leader:
            members.contains { $0.isLeader && $0.report.isReady }
                || members.count == count && members.contains(where: \.isLeader)
        case .readable: members.contains(where: \.isReadable)
        case .everyone: members.count == count && members.contains(where: \.isLeader)
        }
    }

    /// A leader that a standby names and that is not asked yet.
    private static func unknownLeader(
        _ members: [Member], _ questions: [Question], _ reducer: ReducerAddress
    ) -> ReducerAddress? {
        // The number of questions is limited, because standbys might name ever new leaders.
        guard questions.count < reducer.endpoints.count + 2 else { return nil }
        let leaders = members.compactMap { $0.isLeader ? nil : $0.report.leader }
        return leaders.lazy.compactMap { try? reducer.other(at: $0) }
            .first { leader in !questions.contains { $0.address == leader } }
    }

    private static func silence(of reducer: ReducerAddress, _ questions: [Question], _ limit: Duration) -> NodeError {
        guard let why = questions.lazy.compactMap({ $0.dealer.explanation }).first else {
            return .noAnswer(reducer, after: limit)
        }
        return .refused("no reducer answered at \(reducer) within \(limit): \(why)")
    }
}

extension StatusReport {
    /// Why it is not ready, with the name of the journal's fault, or nil if it is ready.
    var notReadyText: String? {
        notReadyBecause.map { why in journalFault.map { "\(why) (\($0.reason.rawValue))" } ?? why }
    }
}
