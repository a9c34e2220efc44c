import CBOR
import LoopCluster
import LoopCore
import LoopWire

/// Why a reducer does not serve, and when it tries again.
struct JournalFailure {
    private(set) var error: JournalError
    /// When the journal became unusable.
    let since: MonotonicTime
    let tries: Int
    let retryAt: MonotonicTime

    /// How long a peer is to wait before it tries again.
    private static let retryAfter = Duration.milliseconds(500)

    /// Notes what the opening of the journal waits for. The reason may differ from the one that ended the service.
    mutating func note(_ owner: JournalOwner) {
        if let obstacle = owner.obstacle {
            error = obstacle
        } else if error.fault.reason.endsWithAnswer {
            error = JournalError(
                .unreachable, operation: "be used yet", reason: "its database answers, and it is being opened",
                remedy: "wait", fault: JournalFault(.recovering))
        }
    }

    /// Completes a report with the failure, and encodes it.
    func report(_ empty: StatusReport) throws -> [UInt8] {
        var report = empty
        report.notReadyBecause = "\(error)"
        report.journalFault = error.fault
        let now = SystemClock.monotonic
        report.journalFaultMilliseconds = (now - since).wholeNanoseconds / 1_000_000
        report.uptimeMilliseconds = (now - SystemClock.processBegan).wholeNanoseconds / 1_000_000
        return try CBOR.encode(report)
    }

    /// Answers a request so that peers stay and try again. The answer does not depend on the peer, which need not be known.
    func answer<Definition: LoopDefinition>(to request: ToReducer, _ type: Definition.Type) throws -> [ToPeer] {
        switch request {
        case .statusRequest:
            let report = StatusReport(loop: Definition.name, schema: UInt64(Definition.schema))
            return [.status(try self.report(report))]
        case .hello(let name, _) where name != "" && name != Definition.name:
            return [.refused(Refused(.loop, reducer: Definition.name, peer: name), to: .hello)]
        case .hello, .join, .stateRequest:
            return [.busy(to: request.question, retryAfter: Self.retryAfter, reason: "\(error)")]
        case .administration(let number, _):
            let answer = AdministrationAnswer.refused("the reducer is not ready: \(error)")
            return AnswerPart.parts(of: try CBOR.encode(answer), request: number).map { .answer($0) }
        case .claim, .heartbeat, .assignmentsRequest, .outcomesRequest, .goodbye, .transitionsRequest, .progress:
            return []
        }
    }
}

extension Journal {
    /// Checks an error that would end the reducer, such as a damaged journal or a replay that differs. The error counts only if
    /// a commit after the reading shows that no other process had the journal meanwhile.
    /// - Returns: the error, or that of the commit, which may be temporary.
    mutating func proven(_ error: any Error) -> any Error {
        switch error {
        case RecoveryError.stopped, is NodeKilled: return error
        case let error as JournalError where error.kind.mayPass: return error
        default: break
        }
        do throws(JournalError) {
            try prove()
            return error
        } catch {
            return error
        }
    }
}
