import LoopCore
package import LoopWire

/// What the journal knows of a session: how far it was consumed, and what its sender must be told in particular.
package struct SessionRecord: Equatable, Sendable {
    package let peer: PeerID
    /// Every entry up to this number is consumed: applied or refused.
    package internal(set) var watermark: UInt64 = 0
    package internal(set) var notable: [NotableOutcome] = []

    init(peer: PeerID) { self.peer = peer }

    mutating func consume(_ number: UInt64, notable outcome: EntryOutcome?) {
        watermark = number
        if let outcome { notable.append(NotableOutcome(number: number, outcome: outcome)) }
    }

    mutating func forget(upTo settled: UInt64) {
        guard let first = notable.first, first.number <= settled else { return }
        notable.removeAll { $0.number <= settled }
    }

    package func notable(after number: UInt64) -> [NotableOutcome] {
        guard let last = notable.last, last.number > number else { return [] }
        return notable.filter { $0.number > number }
    }
}
