import Linux
package import LoopCore

extension ValueType where Value == WallTime {
    /// A time, as the history shows it, to the day, the minute, the second or the millisecond; or how long ago it was.
    package static var wallTime: ValueType {
        ValueType(
            placeholder: "TIME",
            expected: "a time in UTC, such as 2026-11-21T09:56 or 2026-11-21, or how long ago, such as 15m",
            read: { WallTime(shown: $0) ?? ago($0) }, write: \.text)
    }

    private static func ago(_ text: String) -> WallTime? {
        guard let duration = ValueType<Duration>.duration(in: .zero ... .seconds(10 * 366 * 86_400)).read(text) else {
            return nil
        }
        return WallTime(milliseconds: SystemClock.wall.milliseconds - Int64(duration / .milliseconds(1)))
    }
}

extension WallTime {
    /// Reads `2026-01-31T13:05:09.120Z` or a beginning of that which ends after the day, the minute, the second or the fraction.
    package init?(shown text: String) {
        let text = text.hasSuffix("Z") ? text.dropLast() : text[...]
        let parts = text.split(omittingEmptySubsequences: false) { "-T:.".contains($0) }
        let digits = parts.map { Int($0) }
        let separators = text.filter { "-T:.".contains($0) }
        guard [3, 5, 6, 7].contains(digits.count), "--T::.".hasPrefix(separators), !digits.contains(nil),
            text.allSatisfy({ $0.isASCII && ($0.isNumber || "-T:.".contains($0)) }),
            parts.count < 7 || parts[6].count == 3
        else { return nil }
        let numbers = digits.compactMap { $0 } + Array(repeating: 0, count: 7 - digits.count)
        let civil = CivilTime(Int64(numbers[0]), numbers[1], numbers[2], numbers[3], numbers[4], numbers[5])
        guard (1...9999).contains(civil.year), (0..<1000).contains(numbers[6]),
            CivilTime(seconds: civil.seconds) == civil
        else { return nil }
        self.init(milliseconds: civil.seconds * 1000 + Int64(numbers[6]))
    }
}
