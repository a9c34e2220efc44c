/// The times of recurring runs.
public struct Schedule: Hashable, Sendable, CustomStringConvertible {
    private enum Form: Hashable, Sendable {
        case cron(CronExpression, zone: String)
        case every(milliseconds: Int64)
        case wrong(ScheduleError)
    }

    private let form: Form
    /// The schedule as text: `0 3 * * * Europe/Berlin`, `every 300 s`.
    public let description: String

    private init(_ form: Form, _ description: String) {
        self.form = form
        self.description = description
    }

    /// Runs at the minutes that a cron expression names, by the clocks of a time zone.
    ///
    /// If clocks are set forward, a time of day that they skip runs at the moment of the change. If they are set back, a
    /// time of day that they show twice runs the first time. An expression whose hours begin with `*` means intervals: it
    /// runs whenever the clocks show a minute that it names.
    /// - Parameters:
    ///   - expression: minute, hour, day of the month, month, day of the week. A wrong expression is an error at the loop's start.
    ///   - timeZone: a name of the time zone database, such as `Europe/Berlin`; `UTC`; or a POSIX rule, such as
    ///     `CET-1CEST,M3.5.0,M10.5.0/3`, which needs no database. In such rules hours ahead of UTC are negative: `<+02>-2`.
    ///     `UTC+2`, `Etc/GMT+2` and similar names mean two hours behind, and are errors at the loop's start.
    public static func cron(_ expression: String, timeZone: String = "UTC") -> Schedule {
        let text = "\(expression) \(timeZone)"
        do {
            try ZoneSign.check(timeZone)
            return Schedule(.cron(try CronExpression(expression), zone: timeZone), text)
        } catch {
            return Schedule(.wrong(error), text)
        }
    }

    /// Runs at every multiple of an interval since 1970-01-01T00:00:00Z, independent of restarts: `.every(.minutes(5))`
    /// runs at five past, ten past, and so on.
    /// - Parameter interval: at least a second. A shorter one is an error at the loop's start.
    public static func every(_ interval: Duration) -> Schedule {
        let milliseconds = interval.wholeMilliseconds
        let text = "every \(milliseconds % 1000 == 0 ? "\(milliseconds / 1000) s" : "\(milliseconds) ms")"
        guard milliseconds >= 1000 else {
            return Schedule(.wrong(ScheduleError("the schedule \(text) is too frequent; a second is the least")), text)
        }
        return Schedule(.every(milliseconds: milliseconds), text)
    }

    /// The name of the zone that must be looked up in the time zone database, or nil if there is none.
    package var namedZone: String? {
        guard case .cron(_, let zone) = form, (try? ZoneDatabase.builtIn(zone)) == nil else { return nil }
        return zone
    }

    /// The schedule in a form whose times can be computed.
    /// - Throws: `ScheduleError` if the schedule is wrong, or its zone is not known.
    package func planned(_ zones: ZoneDatabase) throws(ScheduleError) -> PlannedSchedule {
        switch form {
        case .wrong(let error): throw error
        case .every(let milliseconds): PlannedSchedule(.every(milliseconds), description)
        case .cron(let expression, let zone): PlannedSchedule(.cron(expression, try zones.rules(of: zone)), description)
        }
    }
}

/// The zones that schedules need, by name.
package struct ZoneDatabase: Sendable {
    package var named: [String: ZoneRules]

    package init(_ named: [String: ZoneRules] = [:]) { self.named = named }

    func rules(of zone: String) throws(ScheduleError) -> ZoneRules {
        if let rules = named[zone] { return rules }
        do {
            return try Self.builtIn(zone)
        } catch {
            throw ScheduleError(
                "the time zone \"\(zone)\" is not known here; it is \"UTC\", a name of the time zone database (package tzdata)"
                    + " such as \"Europe/Berlin\", or a rule such as \"CET-1CEST,M3.5.0,M10.5.0/3\"; two hours ahead of UTC are"
                    + " \"<+02>-2\"")
        }
    }

    /// A zone that needs no database: UTC or a POSIX rule.
    static func builtIn(_ zone: String) throws(ScheduleError) -> ZoneRules {
        zone == "UTC" ? .utc : ZoneRules(rule: try ZoneRule(zone))
    }
}

/// A schedule whose times can be computed.
package struct PlannedSchedule: Sendable {
    enum Form: Sendable {
        case cron(CronExpression, ZoneRules)
        case every(Int64)
    }

    private let form: Form
    /// A hash of the schedule's text, which distinguishes it from another schedule under the same name.
    package let plan: UInt64

    init(_ form: Form, _ text: String) {
        self.form = form
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
        plan = hash
    }

    /// The first time of the schedule after a time, or `never` for a time at the ends of the scale.
    package func next(after time: WallTime) -> WallTime {
        let limit: Int64 = 200_000_000_000_000
        guard (-limit...limit).contains(time.milliseconds) else { return .never }
        switch form {
        case .every(let interval):
            return WallTime(milliseconds: (time.milliseconds.flooredQuotient(by: interval) + 1) * interval)
        case .cron(let expression, let zone):
            let seconds = time.milliseconds.flooredQuotient(by: 1000)
            let next =
                expression.isOfIntervals
                ? Self.nextOfIntervals(expression, zone, after: seconds)
                : Self.nextOfDays(expression, zone, after: seconds)
            return next.map { WallTime(milliseconds: $0 * 1000) } ?? .never
        }
    }

    /// The next time of intervals, which follows what the clocks show from one change to the next.
    private static func nextOfIntervals(
        _ expression: CronExpression, _ zone: ZoneRules, after time: Int64
    ) -> Int64? {
        var start = time + 1
        for _ in 0..<64 {
            let offset = zone.offset(at: start)
            guard let local = expression.first(from: CivilTime(seconds: start + offset)) else { return nil }
            let next = local.seconds - offset
            guard let change = zone.nextChange(after: start), change <= next else { return next }
            start = change
        }
        return nil
    }

    /// The next time of day. Each runs once.
    private static func nextOfDays(_ expression: CronExpression, _ zone: ZoneRules, after time: Int64) -> Int64? {
        // Clocks that were set back show times again that have run. The loop skips those.
        var local = time + zone.offset(at: time)
        for _ in 0..<4096 {
            guard let found = expression.first(from: CivilTime(seconds: local)) else { return nil }
            let next = zone.time(ofLocal: found.seconds)
            if next > time { return next }
            local = found.seconds + 1
        }
        return nil
    }
}

extension WallTime {
    /// A time that no clock reaches.
    package static var never: WallTime { WallTime(milliseconds: .max) }
}

/// Checks the sign of a zone's offset: in POSIX rules, and in names that begin with `Etc/GMT`, zones ahead of UTC have a minus.
enum ZoneSign {
    /// - Throws: `ScheduleError` if a zone reads as the opposite of what it means: `UTC+2`, `Etc/GMT-3`, `<+02>2`.
    static func check(_ zone: String) throws(ScheduleError) {
        var text = zone[...]
        for folder in ["posix/", "right/", "Etc/"] where text.hasPrefix(folder) { text = text.dropFirst(folder.count) }
        let name = text.hasPrefix("<") ? text.prefix { $0 != ">" } : text.prefix { $0.isLetter }
        let offset = text.dropFirst(name.count).drop { $0 == ">" }.prefix { "+-0123456789:".contains($0) }
        guard offset.contains(where: { ("1"..."9").contains($0) }) else { return }
        let isAhead = offset.hasPrefix("-")
        if name.hasPrefix("<") {
            // The sign in the zone's own name.
            guard name.last(where: { "+-".contains($0) }) == (isAhead ? "-" : "+") else { return }
        } else {
            // CET+1 reads as one hour ahead of UTC. A rule that means behind UTC needs no plus: EST5.
            guard offset.hasPrefix("+") || ["UTC", "GMT", "UT"].contains(name.uppercased()) else { return }
        }
        let parts = offset.drop { "+-".contains($0) }.split(separator: ":")
        let digits = parts.map { $0.count == 1 ? "0\($0)" : "\($0)" }.joined()
        let hours = parts.joined(separator: ":")
        throw ScheduleError(
            "the time zone \"\(zone)\" means \(hours) hours \(isAhead ? "ahead of" : "behind") UTC, since such signs are"
                + " reversed; write \"<+\(digits)>-\(hours)\" for ahead, \"<-\(digits)>\(hours)\" for behind, or a name such"
                + " as \"Europe/Berlin\"")
    }
}
