/// The offsets of a zone's clocks from UTC over time: a list of changes, and a rule for the time after them.
package struct ZoneRules: Hashable, Sendable {
    /// The times of the changes in seconds since 1970, ascending.
    private let changes: [Int64]
    /// The seconds ahead of UTC after each change.
    private let offsets: [Int64]
    /// The seconds ahead of UTC before the first change.
    private let firstOffset: Int64
    /// The rule from the last change on, or nil if the last offset stays.
    private let rule: ZoneRule?

    package static let utc = ZoneRules(rule: ZoneRule(offset: 0))

    package init(rule: ZoneRule) {
        (changes, offsets, firstOffset, self.rule) = ([], [], rule.offset, rule)
    }

    init(changes: [Int64], offsets: [Int64], firstOffset: Int64, rule: ZoneRule?) {
        self.changes = changes
        self.offsets = offsets
        self.firstOffset = firstOffset
        self.rule = rule
    }

    /// How many seconds the zone's clocks are ahead of UTC at a time, in seconds since 1970.
    package func offset(at time: Int64) -> Int64 {
        let index = countOfChanges(through: time)
        if index == changes.count, let rule { return rule.offset(at: time) }
        return index == 0 ? firstOffset : offsets[index - 1]
    }

    /// The time of the next change of the offset, or nil if there is none.
    package func nextChange(after time: Int64) -> Int64? {
        let index = countOfChanges(through: time)
        if index < changes.count { return changes[index] }
        return rule?.nextChange(after: time)
    }

    private func countOfChanges(through time: Int64) -> Int {
        var (low, high) = (0, changes.count)
        while low < high {
            let middle = (low + high) / 2
            if changes[middle] <= time { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// The time at which the zone's clocks show a local time, both in seconds since 1970. If they show it twice, it is the
    /// first one. If a change skips it, it is the time of that change.
    package func time(ofLocal local: Int64) -> Int64 {
        let day: Int64 = 86400
        let (before, after) = (offset(at: local - day), offset(at: local + day))
        let first = local - before
        if offset(at: first) == before { return first }
        let second = local - after
        if offset(at: second) == after { return second }
        // The local time is skipped: the change is between both readings.
        return nextChange(after: min(first, second)) ?? first
    }
}

/// A zone's rule for every year, as POSIX writes it in `TZ`: "CET-1CEST,M3.5.0,M10.5.0/3".
package struct ZoneRule: Hashable, Sendable {
    /// The seconds ahead of UTC in standard time.
    let offset: Int64
    private var summer: Summer?

    private struct Summer: Hashable, Sendable {
        let offset: Int64
        let start: Day
        let end: Day
    }

    /// A day of each year, with a time of that day in seconds, by the clock before the change.
    private struct Day: Hashable, Sendable {
        enum Form: Hashable, Sendable {
            /// The n-th, or for 5 the last, of a day of the week in a month.
            case month(Int, week: Int, weekday: Int)
            /// The day of the year, 1 to 365, which never counts 29 February.
            case julian(Int)
            /// The day of the year, 0 to 365.
            case zeroBased(Int)
        }

        let form: Form
        let seconds: Int64

        /// The moment in a year, in seconds since 1970 by a clock without a zone.
        func local(in year: Int64) -> Int64 {
            let first = CivilTime(year, 1, 1).days
            let days: Int64
            switch form {
            case .zeroBased(let day): days = first + Int64(day)
            case .julian(let day):
                let isLeap = CivilTime(year, 3, 1).days - first == 60
                days = first + Int64(day - 1) + (isLeap && day >= 60 ? 1 : 0)
            case .month(let month, let week, let weekday):
                let begin = CivilTime(year, month, 1)
                let next = month == 12 ? CivilTime(year + 1, 1, 1) : CivilTime(year, month + 1, 1)
                var day = begin.days + Int64((weekday - begin.weekday + 7) % 7) + Int64(week - 1) * 7
                while day >= next.days { day -= 7 }
                days = day
            }
            return days * 86400 + seconds
        }
    }

    /// A rule that is always this many seconds ahead of UTC.
    init(offset: Int64) { self.offset = offset }

    /// Parses a rule.
    /// - Throws: `ScheduleError` if the text is no such rule.
    package init(_ text: String) throws(ScheduleError) {
        var reader = RuleReader(text)
        try reader.name()
        offset = -(try reader.time())
        if reader.isAtEnd { return }
        try reader.name()
        var ahead = offset + 3600
        if !reader.isAt(",") && !reader.isAtEnd { ahead = -(try reader.time()) }
        if reader.isAtEnd {
            // POSIX does not define these dates; the rule of the USA is customary.
            let start = Day(form: .month(3, week: 2, weekday: 0), seconds: 7200)
            summer = Summer(offset: ahead, start: start, end: Day(form: .month(11, week: 1, weekday: 0), seconds: 7200))
            return
        }
        let start = try Self.day(&reader)
        let end = try Self.day(&reader)
        guard reader.isAtEnd else { throw reader.error }
        summer = Summer(offset: ahead, start: start, end: end)
    }

    private static func day(_ reader: inout RuleReader) throws(ScheduleError) -> Day {
        try reader.expect(",")
        let form: Day.Form
        if reader.skip("M") {
            let month = try reader.number(1...12)
            try reader.expect(".")
            let week = try reader.number(1...5)
            try reader.expect(".")
            form = .month(month, week: week, weekday: try reader.number(0...6))
        } else if reader.skip("J") {
            form = .julian(try reader.number(1...365))
        } else {
            form = .zeroBased(try reader.number(0...365))
        }
        return Day(form: form, seconds: reader.skip("/") ? try reader.time() : 7200)
    }

    func offset(at time: Int64) -> Int64 {
        guard let summer else { return offset }
        let year = CivilTime(seconds: time + offset).year
        let start = summer.start.local(in: year) - offset
        let end = summer.end.local(in: year) - summer.offset
        // South of the equator the summer spans the new year.
        let isSummer = start < end ? start <= time && time < end : !(end <= time && time < start)
        return isSummer ? summer.offset : offset
    }

    func nextChange(after time: Int64) -> Int64? {
        guard let summer else { return nil }
        let year = CivilTime(seconds: time + offset).year
        var next: Int64?
        for year in year - 1...year + 1 {
            for change in [summer.start.local(in: year) - offset, summer.end.local(in: year) - summer.offset]
            where change > time && change < next ?? .max { next = change }
        }
        return next
    }
}

/// Reads a POSIX rule in order.
private struct RuleReader {
    private let text: [UInt8]
    private var position = 0

    init(_ text: String) { self.text = Array(text.utf8) }

    var error: ScheduleError {
        ScheduleError(
            "\"\(String(decoding: text, as: UTF8.self))\" is not a rule for a zone, such as CET-1CEST,M3.5.0,M10.5.0/3")
    }

    var isAtEnd: Bool { position == text.count }

    private var next: UInt8? { position < text.count ? text[position] : nil }

    func isAt(_ character: Character) -> Bool { next == character.asciiValue }

    mutating func skip(_ character: Character) -> Bool {
        guard isAt(character) else { return false }
        position += 1
        return true
    }

    mutating func expect(_ character: Character) throws(ScheduleError) { if !skip(character) { throw error } }

    /// Reads at least three letters, or anything in angle brackets.
    mutating func name() throws(ScheduleError) {
        let start = position
        if skip("<") {
            while let byte = next, byte != UInt8(ascii: ">") { position += 1 }
            return try expect(">")
        }
        while let byte = next, (65...90).contains(byte) || (97...122).contains(byte) { position += 1 }
        if position - start < 3 { throw error }
    }

    mutating func number(_ range: ClosedRange<Int>) throws(ScheduleError) -> Int {
        var value = 0
        let start = position
        while let byte = next, (48...57).contains(byte), position - start < 4 {
            value = value * 10 + Int(byte - 48)
            position += 1
        }
        guard position > start, range.contains(value) else { throw error }
        return value
    }

    /// Reads hours, with optional minutes, seconds and sign.
    mutating func time() throws(ScheduleError) -> Int64 {
        let isNegative = skip("-")
        if !isNegative { _ = skip("+") }
        var seconds = try number(0...167) * 3600
        if skip(":") { seconds += try number(0...59) * 60 }
        if skip(":") { seconds += try number(0...59) }
        return Int64(isNegative ? -seconds : seconds)
    }
}
