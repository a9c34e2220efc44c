import CBOR
package import LoopCore
import LoopWire

/// A schedule's next time, recorded without a run because the schedule has begun or skipped runs.
package struct ScheduleRecord: Equatable, Sendable {
    /// The number of its feedback.
    package var schedule: UInt32
    /// The time of this decision.
    package var time: WallTime
    /// The time of its next run.
    package var next: WallTime
    /// A hash of the schedule. Another schedule under the same name starts over.
    package var plan: UInt64

    /// Creates a record from its parts.
    package init(schedule: UInt32, time: WallTime, next: WallTime, plan: UInt64) {
        self.schedule = schedule
        self.time = time
        self.next = next
        self.plan = plan
    }
}

/// The schedule's run that made an event. Its due times are in the journal, so that a replay needs no time zone.
///
/// A class, because few events have one.
package final class ScheduledRun: Equatable, Sendable {
    /// The number of the schedule's feedback.
    package let schedule: UInt32
    /// The time at which the run was due.
    package let due: WallTime
    /// The time of the schedule's next run.
    package let next: WallTime
    /// A hash of the schedule.
    package let plan: UInt64
    /// Whether an operator asked for the run. The schedule's next time is then unchanged.
    package let isByHand: Bool

    /// Creates a run from its parts.
    package init(schedule: UInt32, due: WallTime, next: WallTime, plan: UInt64, isByHand: Bool) {
        self.schedule = schedule
        self.due = due
        self.next = next
        self.plan = plan
        self.isByHand = isByHand
    }

    /// Whether both are the same run.
    package static func == (a: ScheduledRun, b: ScheduledRun) -> Bool {
        (a.schedule, a.due, a.next, a.plan, a.isByHand) == (b.schedule, b.due, b.next, b.plan, b.isByHand)
    }
}

extension EventRecord {
    /// Creates the event of a schedule's run.
    package init(_ run: ScheduledRun, seq: Seq, time: WallTime, bytes: ArraySlice<UInt8>) {
        self.init(
            seq: seq, time: time, session: .none, number: 0, effect: nil, attempt: .none, wantsSeq: false, bytes: bytes)
        self.run = run
    }
}

/// The encoding of both as one kind of record. A flag says whether there is an event.
enum ScheduleBytes {
    private static let hasEvent: UInt8 = 1
    private static let isByHand: UInt8 = 2

    static func write(_ record: ScheduleRecord, to output: inout [UInt8]) {
        output.fields(.scheduled) {
            $0.append(0)
            $0.varint(UInt64(record.schedule))
            $0.time(record.time)
            $0.time(record.next)
            $0.u64(record.plan)
        }
    }

    static func write(_ event: EventRecord, _ run: ScheduledRun, to output: inout [UInt8]) {
        output.fields(.scheduled, and: event.bytes.count) {
            $0.append(hasEvent | (run.isByHand ? isByHand : 0))
            $0.varint(UInt64(run.schedule))
            $0.time(event.time)
            $0.time(run.next)
            $0.u64(run.plan)
            $0.time(run.due)
            $0.varint(event.seq.value)
            $0.varint(UInt64(event.bytes.count))
            $0.append(event.bytes.span)
        }
    }

    static func read(from reader: inout ByteReader) throws(WireError) -> Record {
        let flags = try reader.flags(max: 3)
        let schedule = try reader.varint32()
        let (time, next) = (try reader.time(), try reader.time())
        let plan = try reader.u64("plan")
        guard flags & hasEvent != 0 else {
            guard flags == 0 else { throw .malformed(what: "flags \(flags)", offset: reader.position) }
            return .scheduled(ScheduleRecord(schedule: schedule, time: time, next: next, plan: plan))
        }
        let run = ScheduledRun(
            schedule: schedule, due: try reader.time(), next: next, plan: plan, isByHand: flags & isByHand != 0)
        let seq = Seq(try reader.varint())
        return .event(EventRecord(run, seq: seq, time: time, bytes: try reader.shortPrefixed()))
    }
}
