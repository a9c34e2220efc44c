/// A set of numbers that is kept as ranges: as long as numbers come in nearly without gaps, it stays small however many
/// there are.
public struct NumberSet: Equatable, Sendable {
    /// Ascending, none touching the next.
    public private(set) var ranges: [ClosedRange<UInt64>] = []

    public init() {}

    public init(_ numbers: some Sequence<UInt64>) {
        for number in numbers { insert(number) }
    }

    /// How many numbers there are.
    public var count: Int { ranges.reduce(0) { $0 + Int(clamping: $1.upperBound - $1.lowerBound) + 1 } }

    public func contains(_ number: UInt64) -> Bool {
        let index = firstIndex(endingAtOrAfter: number)
        return index < ranges.count && ranges[index].contains(number)
    }

    /// - Returns: whether it was not there before.
    @discardableResult
    public mutating func insert(_ number: UInt64) -> Bool {
        let index = firstIndex(endingAtOrAfter: number)
        if index < ranges.count, ranges[index].contains(number) { return false }
        // Neither sum nor difference can overflow: a range ends below the number, or begins above it.
        let joinsLower = index > 0 && ranges[index - 1].upperBound + 1 == number
        let joinsUpper = index < ranges.count && ranges[index].lowerBound - 1 == number
        switch (joinsLower, joinsUpper) {
        case (true, true):
            ranges[index - 1] = ranges[index - 1].lowerBound...ranges[index].upperBound
            ranges.remove(at: index)
        case (true, false): ranges[index - 1] = ranges[index - 1].lowerBound...number
        case (false, true): ranges[index] = number...ranges[index].upperBound
        case (false, false): ranges.insert(number...number, at: index)
        }
        return true
    }

    /// The first range that ends at this number or above it.
    private func firstIndex(endingAtOrAfter number: UInt64) -> Int {
        var low = 0
        var high = ranges.count
        while low < high {
            let middle = (low + high) / 2
            if ranges[middle].upperBound < number { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

// Stored as the ranges' ends, two numbers each.
extension NumberSet: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let ends = try container.decode([UInt64].self)
        var last: UInt64?
        for start in stride(from: 0, to: ends.count, by: 2) {
            guard start + 1 < ends.count, ends[start] <= ends[start + 1],
                last.map({ ends[start] > $0 && ends[start] - $0 > 1 }) ?? true
            else {
                throw DecodingError.dataCorruptedError(
                    in: container, debugDescription: "the ranges of a set of numbers are not in order")
            }
            ranges.append(ends[start]...ends[start + 1])
            last = ends[start + 1]
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(ranges.flatMap { [$0.lowerBound, $0.upperBound] })
    }
}
