import CBOR
import LoopCluster
import LoopCore
import LoopWire

/// Why a reducer does not serve, and when it tries again.
struct JournalFailure {
    let error: JournalError
    let tries: Int
    let retryAt: MonotonicTime

    /// When a peer is to come again.
    private static let retryAfter = Duration.milliseconds(500)

    /// Peers stay, and come again. What is answered is the same for all, so the peer need not be known.
    func answer<Definition: LoopDefinition>(to request: ToReducer, _ type: Definition.Type) throws -> [ToPeer] {
        switch request {
        case .statusRequest:
            var report = StatusReport(loop: Definition.name, schema: UInt64(Definition.schema))
            report.notReadyBecause = "\(error)"
            return [.status(try CBOR.encode(report))]
        case .hello(let name, _) where name != "" && name != Definition.name:
            return [.refused(Refused(.loop, reducer: Definition.name, peer: name))]
        case .hello, .join, .stateRequest: return [.busy(retryAfter: Self.retryAfter, reason: "\(error)")]
        case .administration(let number, _):
            let answer = AdministrationAnswer.refused("the reducer is not ready: \(error)")
            return AnswerPart.parts(of: try CBOR.encode(answer), request: number).map { .answer($0) }
        case .claim, .heartbeat, .assignmentsRequest, .outcomesRequest, .goodbye, .transitionsRequest, .progress:
            return []
        }
    }
}

extension JournalError.Kind {
    /// Whether it may be well again later.
    var mayPass: Bool {
        switch self {
        case .full, .readOnly, .failedDisk, .locked, .busy, .moved, .unreachable: true
        case .corrupt, .trimmed, .foreign, .misuse: false
        }
    }
}
