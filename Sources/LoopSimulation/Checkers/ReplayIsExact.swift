import LoopCluster
import LoopCore
import LoopWire

/// G8: the journal's records, applied one by one to a second state, make the reducer's state. That also holds if the second state
/// is sometimes written to a snapshot and continues from it.
struct ReplayIsExact<Work: Workload>: Checker {
    typealias Ran = TrappedLoop<Work.Definition>

    static var promise: Promise { .replayIsExact }
    private(set) var checkCount = 0
    private var recordCount = 0
    private var shadow: JournaledState?
    private let work: Work
    private let ran: Ran
    private let recordsMax: Int
    private let hasShadow: Bool
    /// The rules that the second state breaks, too.
    private let rules: BrokenRules

    init(_ work: Work, hasShadow: Bool, breaking rules: BrokenRules) {
        self.work = work
        self.rules = rules
        self.hasShadow = hasShadow
        ran = TrappedLoop(base: work.definition, trap: nil)
        recordsMax = work.limits.shadowRecordsMax
    }

    mutating func begin(_ history: History) {
        guard hasShadow else { return }
        var begun = JournaledState(definition: ran, coder: work.coder, history: history)
        begun.brokenRules = rules
        shadow = begun
    }

    mutating func follow(_ record: Record) throws(Violation) {
        guard hasShadow else { return }
        do {
            try shadow?.apply(record)
        } catch {
            throw Violation(.replayIsExact, "\(record) cannot be replayed: \(error)")
        }
        recordCount += 1
        if recordCount.isMultiple(of: recordsMax) { try goOnFromSnapshot() }
    }

    /// - Parameter wholly: whether to compare everything, by its bytes.
    mutating func compare(_ live: JournaledState, wholly: Bool) throws(Violation) {
        guard let shadow else { return }
        checkCount += 1
        guard live.seq == shadow.seq, work.areEqual(live.state(of: ran), shadow.state(of: ran)),
            live.epoch == shadow.epoch, live.position == shadow.position
        else { throw differ(live, shadow) }
        if wholly, live.digest().hash != shadow.digest().hash { throw differ(live, shadow) }
    }

    private mutating func goOnFromSnapshot() throws(Violation) {
        guard let written = shadow else { return }
        checkCount += 1
        do {
            let document = try written.snapshot()
            var restored = try JournaledState(restoring: document, definition: ran, coder: work.coder)
            restored.brokenRules = rules
            let differences = try restored.differences(from: written)
            guard differences.isEmpty, try restored.snapshot() == document else {
                throw Violation(.replayIsExact, "a snapshot gives other \(differences.joined(separator: ", "))")
            }
            shadow = restored
        } catch let violation as Violation {
            throw violation
        } catch {
            throw Violation(.replayIsExact, "\(written.seq): \(error)")
        }
    }

    private func differ(_ live: JournaledState, _ replayed: JournaledState) -> Violation {
        let names = (try? live.differences(from: replayed)) ?? []
        return Violation(
            .replayIsExact,
            "the reducer holds another \(names.joined(separator: ", ")): \(summary(live)); its journal gives"
                + " \(summary(replayed))")
    }

    private func summary(_ core: JournaledState) -> String {
        let effects = core.effects.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value.status) \($0.value.floor)" }
        let watermarks = core.sessions.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value.watermark)" }
        return "seq \(core.seq), position \(core.position) of \(core.history), epoch \(core.epoch),"
            + " effects [\(effects.joined(separator: ", "))],"
            + " sessions [\(watermarks.joined(separator: ", "))], next \(core.nextSession)"
    }
}
