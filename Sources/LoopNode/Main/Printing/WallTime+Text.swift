import Glibc
package import LoopCore

extension WallTime {
    /// As `2026-01-31T13:05:09.120Z` (RFC 3339); "?" outside the years 1 to 9999.
    package var text: String {
        guard (-62_135_596_800_000..<253_402_300_800_000).contains(milliseconds) else { return "?" }
        let thousandths = ((milliseconds % 1000) + 1000) % 1000
        var seconds = Int((milliseconds - thousandths) / 1000)
        var parts = tm()
        guard gmtime_r(&seconds, &parts) != nil else { return "?" }
        func digits(_ number: Int, _ count: Int) -> String {
            let text = String(number)
            return String(repeating: "0", count: max(0, count - text.count)) + text
        }
        let date = [
            digits(Int(parts.tm_year) + 1900, 4), digits(Int(parts.tm_mon) + 1, 2), digits(Int(parts.tm_mday), 2),
        ]
        let clock = [parts.tm_hour, parts.tm_min, parts.tm_sec].map { digits(Int($0), 2) }
        let fraction = digits(Int(thousandths), 3)
        return "\(date.joined(separator: "-"))T\(clock.joined(separator: ":")).\(fraction)Z"
    }
}
