import LoopCluster
import LoopWire

/// What other threads post for the reducer's thread.
enum ReducerMail: Sendable {
    case stop
    case keysChanged(KeyRing.Change)
    /// An input of the machine.
    case letter(Letter)
    /// The result of a snapshot, and the opening of the journal in which it was begun.
    case snapshotWritten(Result<WrittenSnapshot, JournalError>, opening: UInt64)
}

/// An input of the machine at the beginning of a turn.
enum Letter: Sendable {
    case jobDone(BackgroundJob.Result)
    /// An answer about the journal, which leaves with the next turn.
    case answer(AdministrationAnswer, JournalRequest)
    /// A message from a peer that came while the last turn waited for a receipt.
    case control(ToReducer?, Route, Principal, foreignVersion: UInt8?)

    func read(by intake: inout ReducerMachine) {
        switch self {
        case .jobDone(let result): intake.receive(result)
        case .answer(let answer, let request): intake.answer(answer, request.number, request.route)
        case .control(let request, let route, let principal, let foreignVersion):
            if let foreignVersion { intake.refuse(protocolVersion: foreignVersion, route) }
            if let request { intake.receive(request, from: route, by: principal) }
        }
    }
}
