import LoopWire

/// Why entries were refused, in words, as the reducer has said before it says that they are.
struct HeardDetails: Equatable, Sendable {
    private var texts: [UInt64: String] = [:]

    /// What a reducer says at a time is less than this.
    private static var countMax: Int { 64 }

    mutating func hear(_ details: [RefusalDetail], above settled: UInt64) {
        for detail in details where detail.number > settled && texts.count < Self.countMax {
            texts[detail.number] = detail.text
        }
    }

    /// What was said of an entry; empty: nothing.
    func text(of number: UInt64) -> String { texts.isEmpty ? "" : texts[number] ?? "" }

    mutating func forget(upTo settled: UInt64) {
        if !texts.isEmpty { texts = texts.filter { $0.key > settled } }
    }
}
