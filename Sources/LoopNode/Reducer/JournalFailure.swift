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
}

extension StatusReport {
    /// Notes how far the loop is, which is known although the journal cannot be used.
    mutating func note(_ seq: Seq, _ history: History, _ epoch: Epoch) {
        self.seq = seq.value
        self.history = "\(history)"
        self.epoch = epoch.number
    }

    /// The status of a reducer that cannot use its journal.
    /// - Parameter since: when the journal became unusable.
    func unready(because error: JournalError, since: MonotonicTime) -> StatusReport {
        var report = self
        let now = SystemClock.monotonic
        report.notReadyBecause = "\(error)"
        report.journalFault = error.fault
        report.journalFaultMilliseconds = (now - since).wholeNanoseconds / 1_000_000
        report.uptimeMilliseconds = (now - SystemClock.processBegan).wholeNanoseconds / 1_000_000
        return report
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
