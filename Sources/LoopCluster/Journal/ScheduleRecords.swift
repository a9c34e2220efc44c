import CBOR
public import LoopCore
import LoopWire

/// Where a schedule stands, without a run: it has begun, or runs were left out.
public struct ScheduleRecord: Equatable, Sendable {
    /// The number of its feedback.
    public var schedule: UInt32
    /// When that was decided.
    public var time: WallTime
    /// The time of its next run.
    public var next: WallTime
    /// A hash of the schedule: another one under its name starts over.
    public var plan: UInt64

    /// Creates a record from its parts.
    public init(schedule: UInt32, time: WallTime, next: WallTime, plan: UInt64) {
        self.schedule = schedule
        self.time = time
        self.next = next
        self.plan = plan
    }
}

/// The run of a schedule that an event is. Its due times are journaled, so that a replay asks no time zone.
///
/// A class, since few events have one.
public final class ScheduledRun: Equatable, Sendable {
    /// The number of the schedule's feedback.
    public let schedule: UInt32
    /// The time of the schedule that it is the run of.
    public let due: WallTime
    /// The time of the schedule's next run.
    public let next: WallTime
    /// A hash of the schedule.
    public let plan: UInt64
    /// Whether an operator has asked for it: then the schedule stands where it stood.
    public let isByHand: Bool

    /// Creates a run from its parts.
    public init(schedule: UInt32, due: WallTime, next: WallTime, plan: UInt64, isByHand: Bool) {
        self.schedule = schedule
        self.due = due
        self.next = next
        self.plan = plan
        self.isByHand = isByHand
    }

    /// Whether they are the same run.
    public static func == (a: ScheduledRun, b: ScheduledRun) -> Bool {
        (a.schedule, a.due, a.next, a.plan, a.isByHand) == (b.schedule, b.due, b.next, b.plan, b.isByHand)
    }
}

extension EventRecord {
    /// The event of a schedule's run.
    public init(_ run: ScheduledRun, seq: Seq, time: WallTime, bytes: ArraySlice<UInt8>) {
        self.init(
            seq: seq, time: time, session: .none, number: 0, effect: nil, attempt: .none, wantsSeq: false, bytes: bytes)
        self.run = run
    }
}

/// One kind for both: a flag says whether there is an event.
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
