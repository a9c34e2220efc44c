import LoopCollections
import LoopWire

/// Takes requests for the status from other threads of the reducer's process. The reducer reads them with the control messages of
/// its peers, so it answers them whether it leads, stands by, recovers, or waits for its journal.
final class StatusDesk: Sendable {
    private struct Requests {
        var next: UInt64 = 1
        /// Those that the reducer has not read yet.
        var unread: [UInt64] = []
        /// The answers by number; nil while the reducer has not answered.
        var answers: [UInt64: [UInt8]?] = [:]
    }

    private let requests = Locked(Requests())
    private let wakeup: Wakeup

    init() throws(SystemError) { wakeup = try Wakeup() }

    // MARK: Any thread

    func ask() -> UInt64 {
        let number = requests.withLock { requests in
            defer { requests.next += 1 }
            requests.unread.append(requests.next)
            requests.answers[requests.next] = .some(nil)
            return requests.next
        }
        wakeup.signal()
        return number
    }

    /// The encoded report, or nil if the reducer has not answered yet.
    func answer(to number: UInt64) -> [UInt8]? { requests.withLock { $0.answers[number] ?? nil } }

    /// Must be called for each request in the end.
    func forget(_ number: UInt64) {
        requests.withLock { requests in
            requests.answers[number] = nil
            requests.unread.removeAll { $0 == number }
        }
    }

    // MARK: The reducer's thread

    /// Becomes readable when there are requests to take.
    var descriptor: Int32 { wakeup.descriptor }

    /// The routing IDs of new requests. A ROUTER socket gives no such IDs: its own have five bytes, and those that peers choose do
    /// not begin with 0.
    func take() -> [[UInt8]] {
        wakeup.drain()
        let numbers = requests.withLock { requests in
            defer { requests.unread = [] }
            return requests.unread
        }
        return numbers.map { number in
            Self.prefix + stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> UInt64($0)) }
        }
    }

    /// Takes an answer.
    /// - Returns: whether the ID is one of a request here.
    func take(_ frame: PeerFrame, for id: [UInt8]) -> Bool {
        guard id.count == Self.prefix.count + 8, id.starts(with: Self.prefix) else { return false }
        let number = id.dropFirst(Self.prefix.count).reduce(0) { $0 << 8 | UInt64($1) }
        guard case .status(let document) = frame.message else { return true }
        requests.withLock { requests in
            if requests.answers[number] != nil { requests.answers[number] = .some(document) }
        }
        return true
    }

    private static let prefix: [UInt8] = [0, 0]
}
