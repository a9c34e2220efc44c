import LoopCore
import Testing

@Suite struct `The rules of a zone` {
    static let berlin = "CET-1CEST,M3.5.0,M10.5.0/3"

    private func offsets(_ rule: String, _ times: [CivilTime]) throws -> [Int64] {
        let zone = ZoneRules(rule: try ZoneRule(rule))
        return times.map { zone.offset(at: $0.seconds) / 60 }
    }

    @Test func `change on the days that POSIX names`() throws {
        // Central European summer time begins and ends at 01:00 UTC.
        #expect(
            try offsets(
                Self.berlin,
                [
                    CivilTime(2026, 3, 29, 0, 59, 59), CivilTime(2026, 3, 29, 1), CivilTime(2026, 10, 25, 0, 59, 59),
                    CivilTime(2026, 10, 25, 1), CivilTime(2027, 1, 1),
                ]) == [60, 120, 120, 60, 60])
        // South of the equator, summer spans the new year.
        #expect(
            try offsets(
                "AEST-10AEDT,M10.1.0,M4.1.0/3",
                [CivilTime(2026, 1, 1), CivilTime(2026, 4, 4, 16), CivilTime(2026, 10, 3, 16), CivilTime(2026, 7, 1)])
                == [660, 600, 660, 600])
        #expect(try offsets("<+0545>-5:45", [CivilTime(2026, 1, 1)]) == [345])
        #expect(try offsets("EST5EDT", [CivilTime(2026, 7, 1), CivilTime(2026, 12, 1)]) == [-240, -300])
        // 1 March is day 60 of every year by J, and day 59 or 60 of a year counted from 0.
        #expect(
            try offsets("AAA0BBB,J60/0,J300/0", [CivilTime(2028, 2, 29, 23), CivilTime(2028, 3, 1)]) == [0, 60])
        #expect(
            try offsets("AAA0BBB,59/0,300/0", [CivilTime(2028, 2, 28, 23), CivilTime(2028, 2, 29)]) == [0, 60])
        // Times of a day may be negative, or longer than a day.
        #expect(
            try offsets("<-02>2<-01>,M3.5.0/-1,M10.5.0/0", [CivilTime(2026, 3, 29, 0, 59), CivilTime(2026, 3, 29, 1)])
                == [-120, -60])
    }

    @Test(arguments: [
        "", "CE-1", "CET", "CET-1CEST,M3.5.0", "CET-1CEST,M13.1.0,M10.5.0", "CET-1CEST,M3.6.0,M10.5.0",
        "CET-1CEST,M3.5.7,M10.5.0",
        "CET-200", "CET-1CEST,M3.5.0,M10.5.0/3x", "<CET-1", "CET-1CEST,J0,J1", "Europe/Berlin", "CET-1:60",
    ])
    func `that POSIX does not know are an error`(text: String) {
        #expect(throws: ScheduleError.self) { try ZoneRule(text) }
    }

    @Test func `give a local time that comes twice its first, and one that is skipped the change`() throws {
        let zone = ZoneRules(rule: try ZoneRule(Self.berlin))
        func utc(_ local: CivilTime) -> String { "\(CivilTime(seconds: zone.time(ofLocal: local.seconds)))" }
        #expect(utc(CivilTime(2026, 1, 1, 12)) == "2026-01-01 11:00")
        #expect(utc(CivilTime(2026, 7, 1, 12)) == "2026-07-01 10:00")
        #expect(utc(CivilTime(2026, 10, 25, 2, 30)) == "2026-10-25 00:30")
        #expect(utc(CivilTime(2026, 3, 29, 2, 30)) == "2026-03-29 01:00")
        #expect(utc(CivilTime(2026, 3, 29, 3)) == "2026-03-29 01:00")
        #expect(utc(CivilTime(2026, 3, 29, 1, 59)) == "2026-03-29 00:59")
    }

    // MARK: Compiled zones

    /// A compiled zone with these changes, in one block, or in two with a rule behind them.
    static func tzif(version: Int, _ changes: [(time: Int64, type: UInt8)], offsets: [Int32], rule: String) -> [UInt8] {
        func big(_ value: Int64, _ width: Int) -> [UInt8] {
            (0..<width).reversed().map { UInt8(truncatingIfNeeded: value >> Int64(8 * $0)) }
        }
        func block(_ width: Int) -> [UInt8] {
            var bytes = Array("TZif".utf8) + [version == 1 ? 0 : UInt8(48 + version)]
            bytes += Array(repeating: 0, count: 15)
            for count in [0, 0, 0, changes.count, offsets.count, 4] { bytes += big(Int64(count), 4) }
            for change in changes { bytes += big(change.time, width) }
            bytes += changes.map(\.type)
            for offset in offsets { bytes += big(Int64(offset), 4) + [0, 0] }
            return bytes + Array("CET\0".utf8)
        }
        return version == 1 ? block(4) : block(4) + block(8) + Array("\n\(rule)\n".utf8)
    }

    private static let changes: [(time: Int64, type: UInt8)] = [
        (CivilTime(1980, 4, 6, 1).seconds, 1), (CivilTime(1980, 9, 28, 1).seconds, 0),
    ]

    @Test func `are read from compiled zones, with the rule behind the last change`() throws {
        let zone = try ZoneRules(
            tzif: Self.tzif(version: 2, Self.changes, offsets: [3600, 7200], rule: Self.berlin))
        let times = [
            CivilTime(1950, 7, 1), CivilTime(1980, 7, 1), CivilTime(1980, 12, 1), CivilTime(2026, 7, 1),
            CivilTime(2026, 12, 1),
        ]
        #expect(times.map { zone.offset(at: $0.seconds) } == [3600, 7200, 3600, 7200, 3600])
        #expect(zone.nextChange(after: CivilTime(1980, 1, 1).seconds) == CivilTime(1980, 4, 6, 1).seconds)
        #expect(zone.nextChange(after: CivilTime(2026, 4, 1).seconds) == CivilTime(2026, 10, 25, 1).seconds)
        let old = try ZoneRules(tzif: Self.tzif(version: 1, Self.changes, offsets: [3600, 7200], rule: ""))
        #expect(times.map { old.offset(at: $0.seconds) } == [3600, 7200, 3600, 3600, 3600])
        #expect(old.nextChange(after: CivilTime(2026, 4, 1).seconds) == nil)
    }

    @Test func `of damaged files are errors, and never trap`() {
        let whole = Self.tzif(version: 2, Self.changes, offsets: [3600, 7200], rule: Self.berlin)
        for count in 0..<whole.count - 1 {
            // What follows the second block may be missing as a whole.
            if count == whole.count - Self.berlin.utf8.count - 2 { continue }
            #expect(throws: ScheduleError.self) { try ZoneRules(tzif: Array(whole[..<count])) }
        }
        for bit in 0..<whole.count * 8 {
            var changed = whole
            changed[bit / 8] ^= 1 << (bit % 8)
            guard let zone = try? ZoneRules(tzif: changed) else { continue }
            _ = zone.time(ofLocal: CivilTime(2026, 3, 29, 2, 30).seconds)
        }
    }
}
