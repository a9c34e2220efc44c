/// A date and a time of day on the Gregorian calendar, in no zone.
package struct CivilTime: Hashable, Sendable, CustomStringConvertible {
    package var year: Int64
    /// 1 to 12.
    package var month: Int
    /// 1 to 31.
    package var day: Int
    package var hour: Int
    package var minute: Int
    package var second: Int

    package init(_ year: Int64, _ month: Int, _ day: Int, _ hour: Int = 0, _ minute: Int = 0, _ second: Int = 0) {
        (self.year, self.month, self.day) = (year, month, day)
        (self.hour, self.minute, self.second) = (hour, minute, second)
    }

    /// Creates the date and time of day that is this many seconds after the beginning of 1970.
    package init(seconds: Int64) {
        let days = seconds.flooredQuotient(by: 86400)
        let rest = Int(seconds - days * 86400)
        // Years begin in March here, so that the leap day is the last of its year. (Hinnant, chrono-compatible dates.)
        let shifted = days + 719_468
        let era = shifted.flooredQuotient(by: 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = Int(shiftedMonth) + (shiftedMonth < 10 ? 3 : -9)
        self.init(
            yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, Int(dayOfYear - (153 * shiftedMonth + 2) / 5 + 1),
            rest / 3600, rest / 60 % 60, rest % 60)
    }

    /// The number of seconds after the beginning of 1970.
    package var seconds: Int64 { days * 86400 + Int64(hour * 3600 + minute * 60 + second) }

    /// The number of days from 1970-01-01 to the date.
    package var days: Int64 {
        let shiftedYear = month <= 2 ? year - 1 : year
        let era = shiftedYear.flooredQuotient(by: 400)
        let yearOfEra = shiftedYear - era * 400
        let dayOfYear = Int64((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1)
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    /// The day of the week; 0 is Sunday.
    package var weekday: Int {
        let days = days + 4
        return Int(days - days.flooredQuotient(by: 7) * 7)
    }

    package var description: String {
        "\(year)-\(Self.twoDigits(month))-\(Self.twoDigits(day)) \(Self.twoDigits(hour)):\(Self.twoDigits(minute))"
    }

    private static func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}

extension Int64 {
    /// The quotient, rounded down even below zero.
    package func flooredQuotient(by divisor: Int64) -> Int64 {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}

extension WallTime {
    /// The time in UTC as text for people: `2026-11-25 02:24:07 UTC`; or the milliseconds if the year is out of range.
    package var civilText: String {
        guard (-60_000_000_000_000...250_000_000_000_000).contains(milliseconds) else { return "\(milliseconds) ms" }
        let seconds = milliseconds.flooredQuotient(by: 1000)
        let rest = Int(seconds - seconds.flooredQuotient(by: 60) * 60)
        return "\(CivilTime(seconds: seconds)):\(rest < 10 ? "0" : "")\(rest) UTC"
    }
}
