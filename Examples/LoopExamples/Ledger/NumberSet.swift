/// A set of numbers, stored as ranges. It is small, whatever its count, if the numbers have few gaps.
package struct NumberSet: Equatable, Sendable {
    /// The ranges in ascending order, none adjacent to the next.
    package private(set) var ranges: [ClosedRange<UInt64>] = []

    package init() {}

    package init(_ numbers: some Sequence<UInt64>) {
        for number in numbers { insert(number) }
    }

    /// How many numbers there are.
    package var count: Int { ranges.reduce(0) { $0 + Int(clamping: $1.upperBound - $1.lowerBound) + 1 } }

    package func contains(_ number: UInt64) -> Bool {
        let index = firstIndex(endingAtOrAfter: number)
        return index < ranges.count && ranges[index].contains(number)
    }

    /// - Returns: whether the number is new.
    @discardableResult
    package mutating func insert(_ number: UInt64) -> Bool {
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

// Encoded as distances, which are small for close numbers: from the previous end to a range's lower bound, from there to
// its upper bound, and so on.
extension NumberSet: Codable {
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let distances = try container.decode([UInt64].self)
        var end: UInt64 = 0
        for start in stride(from: 0, to: distances.count, by: 2) {
            let gap = distances[start]
            // Adjacent ranges would be one range.
            guard start + 1 < distances.count, start == 0 || gap > 1,
                case (let lower, false) = end.addingReportingOverflow(gap),
                case (let upper, false) = lower.addingReportingOverflow(distances[start + 1])
            else {
                throw DecodingError.dataCorruptedError(
                    in: container, debugDescription: "the distances of a set of numbers do not fit each other")
            }
            ranges.append(lower...upper)
            end = upper
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var distances: [UInt64] = []
        distances.reserveCapacity(2 * ranges.count)
        var end: UInt64 = 0
        for range in ranges {
            distances.append(range.lowerBound - end)
            distances.append(range.upperBound - range.lowerBound)
            end = range.upperBound
        }
        var container = encoder.singleValueContainer()
        try container.encode(distances)
    }
}
