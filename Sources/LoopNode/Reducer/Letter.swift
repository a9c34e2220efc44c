import LoopCluster
import LoopWire

/// What the machine is told at the beginning of a turn.
enum Letter {
    case jobDone(BackgroundJob.Result)
    case answer(AdministrationAnswer, JournalRequest)
    /// The last turn's reply found no connection.
    case unreachablePeer

    func read(by intake: inout ReducerCore) {
        switch self {
        case .jobDone(let result): intake.receive(result)
        case .answer(let answer, let request): intake.answer(answer, request.number, request.route)
        case .unreachablePeer: intake.count(.unreachablePeer)
        }
    }
}
