import LoopCore
import Testing

@Suite struct `A cron expression` {
    private func next(_ expression: String, from time: CivilTime) throws -> String {
        try CronExpression(expression).first(from: time).map { "\($0)" } ?? "never"
    }

    @Test(arguments: [
        ("0 3 * * *", "2026-11-25 03:00"), ("*/15 * * * *", "2026-11-25 02:30"),
        ("0,30 9-17 * * mon-fri", "2026-11-25 09:00"),
        ("20 2 * * *", "2026-11-25 02:20"), ("19 2 * * *", "2026-11-26 02:19"), ("0 0 1 jan *", "2027-01-01 00:00"),
        ("0 0 29 2 *", "2028-02-29 00:00"), ("0 12 * * 0", "2026-11-29 12:00"), ("0 12 * * 7", "2026-11-29 12:00"),
        ("0 12 * * fri-sun", "2026-11-27 12:00"), ("0 8-18/5 * * *", "2026-11-25 08:00"),
        ("5 4 31 * *", "2026-12-31 04:05"),
        ("0 0 * * SUN", "2026-11-29 00:00"),
    ])
    func `names minutes`(expression: String, first: String) throws {
        // A Wednesday.
        #expect(try next(expression, from: CivilTime(2026, 11, 25, 2, 20)) == first)
    }

    @Test func `matches either day where both are restricted, and both where one begins with a star`() throws {
        #expect(try next("0 0 13 * fri", from: CivilTime(2026, 11, 25)) == "2026-11-27 00:00")
        #expect(try next("0 0 26 * fri", from: CivilTime(2026, 11, 25)) == "2026-11-26 00:00")
        #expect(try next("0 0 */2 * fri", from: CivilTime(2026, 11, 25)) == "2026-11-27 00:00")
        #expect(try next("0 0 13 * *", from: CivilTime(2026, 11, 25)) == "2026-12-13 00:00")
    }

    @Test func `begins with the next whole minute`() throws {
        #expect(try next("* * * * *", from: CivilTime(2026, 12, 31, 23, 59, 1)) == "2027-01-01 00:00")
        #expect(try next("* * * * *", from: CivilTime(2026, 12, 31, 23, 59, 0)) == "2026-12-31 23:59")
    }

    @Test(arguments: [
        ("0 3 * *", "has 4 fields"), ("60 * * * *", "\"60\" for the minute: \"60\" is not one; there are 0 to 59"),
        ("* 24 * * *", "for the hour"), ("* * 0 * *", "for the day of the month"), ("* * * 13 *", "for the month"),
        ("* * * * 8", "for the day of the week"), ("* * * * blue", "names such as mon"),
        ("5/10 * * * *", "a step needs a range"),
        ("5-1 * * * *", "ends before it begins; write two, such as 5-59,0-1"),
        ("*/90 * * * *", "the step 90 is longer than \"*\", so that only 0 is left"), ("*/60 * * * *", "the step 60"),
        ("0/90 * * * *", "a step needs a range"), ("0 8-18/11 * * *", "so that only 8 is left"),
        ("0 0 */31 * *", "so that only 1 is left"), ("0 0 1 */12 *", "the step 12"), ("0 0 * * */7", "the step 7"),
        ("0 0 31 4,6,9,11 *", "a day that no month has"), ("0 0 * * fri-mon", "write two, such as 5-7,0-1"),
        ("*/0 * * * *", "is not a step"), ("1-2-3 * * * *", "is not a range"),
        (", * * * *", "is not one"), ("*/2/3 * * * *", "more than one step"), ("0 0 30 2 *", "a day that no month has"),
        ("-1 * * * *", "is not one"), ("99999999999999999999 * * * *", "is not one"), ("", "has 0 fields"),
    ])
    func `that is wrong says what is`(expression: String, reason: String) {
        let error = #expect(throws: ScheduleError.self) { try CronExpression(expression) }
        #expect(error?.description.contains(reason) == true, "\(error.map { "\($0)" } ?? "")")
        #expect(error?.description.contains("\"\(expression)\"") == true)
    }

    @Test func `computes dates as a calendar does`() {
        var days = CivilTime(1969, 12, 28).days
        #expect(days == -4)
        for year in 1970...2110 as ClosedRange<Int64> {
            let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
            let lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
            if year == 1970 { days = 0 }
            for (month, length) in lengths.enumerated() {
                for day in 1...length {
                    let date = CivilTime(year, month + 1, day)
                    #expect(date.days == days && CivilTime(seconds: days * 86400) == date)
                    #expect(date.weekday == Int((days + 4) % 7))
                    days += 1
                }
            }
        }
        #expect(CivilTime(seconds: -1) == CivilTime(1969, 12, 31, 23, 59, 59))
        #expect(CivilTime(1600, 2, 29).seconds == -11_670_998_400)
    }
}
