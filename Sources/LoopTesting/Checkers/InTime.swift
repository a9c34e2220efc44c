import LoopCluster
import LoopCore
import LoopWire

/// G15: a timer fires once, not before its time, with its event, and only while the state asks for it at that time. Timers
/// that are due together fire in the order of their times. That each fires at all shows when a run settles.
struct InTime<Work: Workload>: Checker {
    static var promise: Promise { .inTime }
    private(set) var checkCount = 0

    init(_ work: Work) {}

    mutating func follow(_ record: Record, _ model: LoopModel<Work>) throws(Violation) {
        guard case .event(let event) = record, event.isOfTimer, let effect = event.effect else { return }
        checkCount += 1
        guard let timer = model.timers[effect] else {
            let why = model.isLive(effect) ? "it has fired or was set aside" : "the state does not ask for it"
            throw Violation(.inTime, "timer \(effect) fires at seq \(event.seq), and \(why)")
        }
        if event.time < timer.time {
            throw Violation(
                .inTime,
                "timer \(effect) fires \(timer.time.milliseconds - event.time.milliseconds) ms before its time, at seq"
                    + " \(event.seq)")
        }
        if let expected = model.event(of: effect), expected[...] != event.bytes {
            throw Violation(.inTime, "timer \(effect) fires with \(Array(event.bytes)), and not with \(expected)")
        }
        for (other, another) in model.timers where (another.time, other) < (timer.time, effect) {
            throw Violation(.inTime, "timer \(effect) fires before timer \(other), which is due earlier")
        }
    }
}
