import LoopCluster
import LoopKeys
import LoopWire

/// An input of the machine at the beginning of a turn.
enum Letter {
    case jobDone(BackgroundJob.Result)
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
