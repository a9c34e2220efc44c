/// A set of numbers in the form `0-3,7,9-12`.
package struct NumberRanges: Equatable, Sendable, CustomStringConvertible {
    package let numbers: Set<Int>

    package init(_ numbers: Set<Int>) { self.numbers = numbers }

    /// - Returns: nil if the text is no such list.
    package init?(_ text: String) {
        var numbers: Set<Int> = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let ends = part.split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
            guard let first = ends.first ?? nil, let last = ends.last ?? nil, ends.count <= 2, 0 <= first,
                first <= last,
                last < 1_000_000
            else { return nil }
            numbers.formUnion(first...last)
        }
        self.numbers = numbers
    }

    package var description: String {
        var parts: [String] = []
        var run: ClosedRange<Int>?
        for number in numbers.sorted() {
            if let open = run, open.upperBound + 1 == number {
                run = open.lowerBound...number
            } else {
                if let open = run { parts.append(NumberRanges.text(open)) }
                run = number...number
            }
        }
        if let open = run { parts.append(NumberRanges.text(open)) }
        return parts.joined(separator: ",")
    }

    private static func text(_ range: ClosedRange<Int>) -> String {
        range.count == 1 ? "\(range.lowerBound)" : "\(range.lowerBound)-\(range.upperBound)"
    }
}
