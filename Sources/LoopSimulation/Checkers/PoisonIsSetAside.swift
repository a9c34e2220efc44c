import LoopCluster
import LoopCore
import LoopWire

/// G11: an event that ends the process does so at most twice, and is then set aside. Nothing else is set aside. An event that was
/// set aside ends the process again only if an operator retries it, once for each retry.
struct PoisonIsSetAside: Checker {
    static let promise = Promise.poisonIsSetAside
    private(set) var checkCount = 0
    private var cases: [Culprit: Case] = [:]
    /// The quarantined events, by their number.
    private var aside: [UInt64: Culprit] = [:]
    /// How often an operator has retried each of them since it last ended the process.
    private var retries: [UInt64: Int] = [:]

    /// The event in which the process ends. It is identified by its bytes, because another attempt of its effect, or another
    /// sender, may send them again as another entry.
    private enum Culprit: Hashable {
        case entry(id: Int)
        case event(EffectID?, ArraySlice<UInt8>)
        case timer(EffectID)

        init(_ entry: SentEntry) {
            if let bytes = entry.payload {
                self = .event(entry.effect, bytes)
            } else {
                self = .entry(id: entry.id)
            }
        }
    }

    private struct Case {
        /// How often the process ended in it while it was first applied.
        var ends = 0
        var isAside = false
        /// Whether it was set aside before, by a record that was lost. Its note may know that, or may be lost too.
        var wasAside = false
    }

    mutating func begin() {
        aside = [:]
        retries = [:]
    }

    mutating func lose(_ records: [JournaledRecord]) {
        for journaled in records {
            guard case .quarantined(let record) = journaled.record else { continue }
            if let culprit = aside.removeValue(forKey: record.id) { cases[culprit] = Case(wasAside: true) }
            retries[record.id] = nil
        }
    }

    /// An operator retries an event that was set aside.
    mutating func retry(_ id: UInt64) { retries[id, default: 0] += 1 }

    /// The process ended in an event that was set aside.
    mutating func trapAgain(in id: UInt64) throws(Violation) {
        checkCount += 1
        retries[id, default: 0] -= 1
        if retries[id, default: 0] < 0 {
            throw Violation(
                .poisonIsSetAside, "the process ended in quarantined event \(id), and no operator asked for it")
        }
    }

    /// The process ended in the reduction of an entry's event.
    mutating func trap(in id: Int, _ entry: SentEntry?, _ isItsFault: Bool) throws(Violation) {
        try trap(in: entry.map(Culprit.init) ?? .entry(id: id), "entry #\(id)", isItsFault)
    }

    /// The process ended in the reduction of a timer's event.
    mutating func trap(in timer: EffectID, _ isItsFault: Bool) throws(Violation) {
        try trap(in: .timer(timer), "timer \(timer)", isItsFault)
    }

    private mutating func trap(in culprit: Culprit, _ name: String, _ isItsFault: Bool) throws(Violation) {
        checkCount += 1
        cases[culprit, default: Case()].ends += 1
        guard let known = cases[culprit] else { return }
        if known.isAside {
            throw Violation(.poisonIsSetAside, "the process ended in \(name), which was set aside")
        }
        if isItsFault, known.ends > 2 {
            throw Violation(.poisonIsSetAside, "the process ended in \(name) for the \(known.ends). time")
        }
    }

    mutating func follow(_ journaled: JournaledRecord) throws(Violation) {
        guard case .quarantined(let record) = journaled.record else { return }
        let isOfTimer = record.session == .none
        guard let culprit = isOfTimer ? record.effect.map(Culprit.timer) : journaled.entry.map(Culprit.init) else {
            return
        }
        let name = isOfTimer ? "timer \(record.effect.map { "\($0)" } ?? "")" : "entry \(record.number)"
        checkCount += 1
        let known = cases[culprit] ?? Case()
        if known.ends < 2, !known.wasAside {
            throw Violation(
                .poisonIsSetAside, "\(name) is set aside, and ended the process \(known.ends) times")
        }
        cases[culprit]?.isAside = true
        aside[record.id] = culprit
    }
}
