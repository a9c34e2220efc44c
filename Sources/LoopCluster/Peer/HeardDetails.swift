import LoopWire

/// The details of refusals, which the reducer sends before the refusals themselves.
struct HeardDetails: Equatable, Sendable {
    private var texts: [UInt64: String] = [:]

    /// More details than a reducer sends at a time.
    private static var countMax: Int { 64 }

    mutating func hear(_ details: [RefusalDetail], above settled: UInt64) {
        for detail in details where detail.number > settled && texts.count < Self.countMax {
            texts[detail.number] = detail.text
        }
    }

    /// The detail of an entry's refusal; empty if there is none.
    func text(of number: UInt64) -> String { texts.isEmpty ? "" : texts[number] ?? "" }

    mutating func forget(upTo settled: UInt64) {
        if !texts.isEmpty { texts = texts.filter { $0.key > settled } }
    }
}
