internal import LoopCollections

/// The requests for the effects to hold, by number, from 1.
///
/// The state has only their count. The derived requests are cached: while the count is unchanged they are one dictionary,
/// which is compared in one step, whatever its size.
final class HeldRequests: Sendable {
    /// The request to the workers.
    struct Request: Codable, Equatable, Sendable {
        var number: UInt64
        /// The folder of the pages.
        var folder: String
    }

    private let last = Locked<(folder: String, all: [UInt64: Request])>(("", [:]))

    func all(of state: LedgerState) -> [UInt64: Request] {
        last.withLock { last in
            if last.all.count != state.held || last.folder != state.folder {
                let requests = (0..<UInt64(state.held)).map { ($0 + 1, Request(number: $0 + 1, folder: state.folder)) }
                last = (state.folder, Dictionary(uniqueKeysWithValues: requests))
            }
            return last.all
        }
    }
}
