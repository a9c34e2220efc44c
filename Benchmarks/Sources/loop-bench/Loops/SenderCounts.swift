/// Counts the events of each of eight senders, which number them from 1, and notices any that is missing, doubled or out of
/// its sender's order.
struct SenderCounts: Sendable {
    static let sendersCount = 8

    private var applied = SIMD8<UInt64>(repeating: 0)
    private var disorder: UInt64 = 0

    /// The sender's number stands in the lowest bits.
    static func event(_ sender: Int, _ number: UInt64) -> UInt64 { number << 3 | UInt64(sender) }

    mutating func apply(_ event: UInt64) {
        let sender = Int(event & 7)
        applied[sender] &+= 1
        if applied[sender] != event >> 3 { disorder += 1 }
    }

    /// - Throws: `BenchmarkError.promise` unless exactly the events 1 to `count` of each sender were applied, in that order.
    func check(_ count: UInt64) throws {
        guard applied == SIMD8(repeating: count), disorder == 0 else {
            throw BenchmarkError.promise("each sent \(count) events, applied were \(applied), \(disorder) out of order")
        }
    }
}
