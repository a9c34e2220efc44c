package import LoopCore

extension WallTime {
    /// The time as `2026-01-31T13:05:09.120Z` (RFC 3339), or "?" outside the years 1 to 9999.
    package var text: String {
        guard (-62_135_596_800_000..<253_402_300_800_000).contains(milliseconds) else { return "?" }
        let thousandths = ((milliseconds % 1000) + 1000) % 1000
        let time = CivilTime(seconds: milliseconds.flooredQuotient(by: 1000))
        func digits(_ number: Int, _ count: Int) -> String {
            let text = String(number)
            return String(repeating: "0", count: max(0, count - text.count)) + text
        }
        let date = [digits(Int(time.year), 4), digits(time.month, 2), digits(time.day, 2)]
        let clock = [time.hour, time.minute, time.second].map { digits($0, 2) }
        let fraction = digits(Int(thousandths), 3)
        return "\(date.joined(separator: "-"))T\(clock.joined(separator: ":")).\(fraction)Z"
    }
}
