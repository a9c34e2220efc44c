package import LoopWire

/// The answers of a session that its sender has not confirmed, so that it gets the same ones if it asks again.
package struct KeptAnswers: Equatable, Sendable {
    /// The answers, by ascending numbers.
    package private(set) var items: [NumberedAnswer] = []
    /// How many bytes of the limits they use.
    package private(set) var byteCount = 0

    /// How many bytes of answers one session keeps. Beyond that, its next question is refused as overloaded.
    package static var bytesMax: Int { 1 << 20 }
    /// How many bytes of answers all sessions keep together. Beyond that, the session that keeps the most loses all of its answers.
    package static var totalBytesMax: Int { 64 << 20 }
    /// A replay does not know which answers were confirmed. It keeps as many of the newest ones as there can have been.
    private static var replayBytesMax: Int { bytesMax + Wire.answerBytesMax + overhead }
    /// The cost of a kept answer in addition to its value.
    private static var overhead: Int { 64 }

    package var isEmpty: Bool { items.isEmpty }

    private static func cost(_ item: NumberedAnswer) -> Int { item.byteCount + overhead }

    mutating func keep(_ item: NumberedAnswer) {
        items.append(item)
        byteCount += Self.cost(item)
        var excess = 0
        while byteCount > Self.replayBytesMax, excess < items.count {
            byteCount -= Self.cost(items[excess])
            excess += 1
        }
        if excess > 0 { items.removeFirst(excess) }
    }

    mutating func forget(upTo settled: UInt64) {
        let count = items.firstIndex { $0.number > settled } ?? items.count
        for item in items[..<count] { byteCount -= Self.cost(item) }
        items.removeFirst(count)
    }

    /// The answers to entries within a range of numbers.
    func within(_ numbers: ClosedRange<UInt64>) -> [NumberedAnswer] { items.filter { numbers.contains($0.number) } }
}
