/// A cron expression, which names minutes of the calendar.
///
/// It has five fields, separated by spaces: minute (0-59), hour (0-23), day of the month (1-31), month (1-12 or names), day of the
/// week (0-7 or names; 0 and 7 are Sunday). A field is `*`, or a list of numbers and ranges, each of which may have a step: `*/15`,
/// `1-5`, `mon-fri`, `8-18/2`, `0,30`. If neither field for days begins with `*`, a day matches if either field does.
package struct CronExpression: Hashable, Sendable {
    private let minutes: UInt64
    private let hours: UInt64
    private let days: UInt64
    private let months: UInt64
    private let weekdays: UInt64
    /// Whether a day must match both fields, because one of them restricts nothing.
    private let needsBothDays: Bool
    /// Whether the hours field begins with `*`, which means intervals and not times of day.
    package let isOfIntervals: Bool

    /// Parses an expression.
    /// - Throws: `ScheduleError`, which names the field and what is wrong with it.
    package init(_ text: String) throws(ScheduleError) {
        let fields = text.split { $0 == " " || $0 == "\t" }.map { String($0) }
        guard fields.count == 5 else {
            throw ScheduleError(
                "the cron expression \"\(text)\" has \(fields.count) fields; five are needed: minute, hour, day of the"
                    + " month, month, day of the week, such as \"0 3 * * *\" for every day at three")
        }
        minutes = try CronField.minute.bits(fields[0], in: text)
        hours = try CronField.hour.bits(fields[1], in: text)
        days = try CronField.day.bits(fields[2], in: text)
        months = try CronField.month.bits(fields[3], in: text)
        let weekdays = try CronField.weekday.bits(fields[4], in: text)
        self.weekdays = (weekdays | weekdays >> 7) & 0x7f
        needsBothDays = fields[2].hasPrefix("*") || fields[4].hasPrefix("*")
        isOfIntervals = fields[1].hasPrefix("*")
        if first(from: CivilTime(2000, 1, 1)) == nil {
            throw ScheduleError("the cron expression \"\(text)\" names a day that no month has")
        }
    }

    /// The first named minute at or after a time, or nil if there is none within twelve years.
    package func first(from time: CivilTime) -> CivilTime? {
        // Rounds up to a whole minute.
        var start = time
        if time.second > 0 { start = CivilTime(seconds: time.seconds - Int64(time.second) + 60) }
        start.second = 0
        var date = CivilTime(start.year, start.month, start.day)
        var (hour, minute) = (start.hour, start.minute)
        let last = date.days + 12 * 366
        while date.days <= last {
            if Self.has(months, date.month), matchesDay(date), let time = first(fromHour: hour, minute) {
                return CivilTime(date.year, date.month, date.day, time.hour, time.minute)
            }
            (hour, minute) = (0, 0)
            date = Self.has(months, date.month) ? Self.nextDay(date) : Self.nextMonth(date)
        }
        return nil
    }

    private func first(fromHour hour: Int, _ minute: Int) -> (hour: Int, minute: Int)? {
        var (hour, minute) = (hour, minute)
        while hour < 24 {
            if Self.has(hours, hour), let minute = (minute..<60).first(where: { Self.has(minutes, $0) }) {
                return (hour, minute)
            }
            hour += 1
            minute = 0
        }
        return nil
    }

    private func matchesDay(_ date: CivilTime) -> Bool {
        let (ofMonth, ofWeek) = (Self.has(days, date.day), Self.has(weekdays, date.weekday))
        return needsBothDays ? ofMonth && ofWeek : ofMonth || ofWeek
    }

    private static func has(_ bits: UInt64, _ value: Int) -> Bool { bits & 1 << UInt64(value) != 0 }

    private static func nextDay(_ date: CivilTime) -> CivilTime { CivilTime(seconds: (date.days + 1) * 86400) }

    private static func nextMonth(_ date: CivilTime) -> CivilTime {
        date.month == 12 ? CivilTime(date.year + 1, 1, 1) : CivilTime(date.year, date.month + 1, 1)
    }
}

/// One of the five fields.
private struct CronField {
    let name: String
    let range: ClosedRange<Int>
    /// The names of its values, beginning with that of `firstName`.
    var names: [String] = []
    var firstName = 0

    static let minute = CronField(name: "minute", range: 0...59)
    static let hour = CronField(name: "hour", range: 0...23)
    static let day = CronField(name: "day of the month", range: 1...31)
    static let month = CronField(
        name: "month", range: 1...12,
        names: ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"], firstName: 1)
    static let weekday = CronField(
        name: "day of the week", range: 0...7, names: ["sun", "mon", "tue", "wed", "thu", "fri", "sat"])

    /// The values of a field as bits.
    func bits(_ field: String, in expression: String) throws(ScheduleError) -> UInt64 {
        var bits: UInt64 = 0
        for item in field.split(separator: ",", omittingEmptySubsequences: false) {
            do {
                bits |= try self.bits(ofItem: String(item))
            } catch {
                throw ScheduleError(
                    "the cron expression \"\(expression)\" has \"\(field)\" for the \(name): \(error.reason)")
            }
        }
        return bits
    }

    private func bits(ofItem item: String) throws(ScheduleError) -> UInt64 {
        let parts = item.split(separator: "/", omittingEmptySubsequences: false).map { String($0) }
        guard parts.count <= 2 else { throw ScheduleError("\"\(item)\" has more than one step") }
        var step = 1
        if parts.count == 2 {
            guard let number = Self.number(parts[1]), number >= 1 else {
                throw ScheduleError("\"\(parts[1])\" is not a step; steps are numbers from 1")
            }
            step = number
        }
        var bits: UInt64 = 0
        let values = try values(parts[0], hasStep: parts.count == 2)
        guard step == 1 || step <= values.upperBound - values.lowerBound else {
            throw ScheduleError(
                "the step \(step) is longer than \"\(parts[0])\", so that only \(values.lowerBound) is left; steps begin again"
                    + " with each field, and .every(…) runs at any interval")
        }
        for value in stride(from: values.lowerBound, through: values.upperBound, by: step) {
            bits |= 1 << UInt64(value)
        }
        return bits
    }

    private func values(_ text: String, hasStep: Bool) throws(ScheduleError) -> ClosedRange<Int> {
        // Sunday is 0 and 7, so all days of a week are 0 to 6.
        if text == "*" { return range.lowerBound...(names.count == 7 ? 6 : range.upperBound) }
        let ends = text.split(separator: "-", omittingEmptySubsequences: false).map { String($0) }
        guard ends.count <= 2 else { throw ScheduleError("\"\(text)\" is not a range") }
        let first = try value(ends[0])
        guard ends.count == 2 else {
            if hasStep { throw ScheduleError("a step needs a range, such as \(text)-\(range.upperBound), or *") }
            return first...first
        }
        var last = try value(ends[1])
        if names.count == 7, last == 0, first > 0 { last = 7 }
        guard first <= last else {
            throw ScheduleError(
                "the range \"\(text)\" ends before it begins; write two, such as \(first)-\(range.upperBound),\(range.lowerBound)-\(last)"
            )
        }
        return first...last
    }

    private func value(_ text: String) throws(ScheduleError) -> Int {
        if let index = names.firstIndex(of: text.lowercased()) { return index + firstName }
        guard let number = Self.number(text), range.contains(number) else {
            let named = names.isEmpty ? "" : ", or names such as \(names[1])"
            throw ScheduleError(
                "\"\(text)\" is not one; there are \(range.lowerBound) to \(range.upperBound)\(named)")
        }
        return number
    }

    private static func number(_ text: String) -> Int? {
        text.utf8.allSatisfy { (48...57).contains($0) } && text.utf8.count <= 4 ? Int(text) : nil
    }
}

/// The reason why a schedule or a zone is invalid.
public struct ScheduleError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A line that says what is wrong, with the value and the remedy.
    public let reason: String

    init(_ reason: String) { self.reason = reason }

    /// The reason.
    public var description: String { reason }
}
