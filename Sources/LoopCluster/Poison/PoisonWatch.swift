import LoopCore
import LoopWire

/// The watch for events that end the process. A suspect is reduced alone, and set aside the second time. (Protocol, section 7.)
///
///     crash ──▶ suspect ── comes again ──▶ alone in its turn ── durable ──▶ struck from the note
///                                                │
///                                              crash ──▶ suspect, twice ── comes again ──▶ quarantined
struct PoisonWatch: Sendable {
    /// The entries in which the process ended.
    private(set) var suspects: [Suspect]
    /// The suspects that this turn has consumed.
    private var survivors: [Suspect] = []
    /// Whether the turn has a suspect, and takes nothing after it.
    private(set) var isAlone = false
    /// The batches that a turn with a suspect has put off, in order.
    private(set) var deferred = DeferredBatches()
    /// The quarantined events that operators have asked to try again.
    private var retries: [QuarantineRetry] = []
    /// The effects with an event in quarantine.
    private var effects: Set<EffectID> = []
    /// The hashes of the senders' events in quarantine.
    private var hashes: Set<UInt64> = []

    static var retriesMax: Int { 64 }

    init(suspects: [Suspect] = []) { self.suspects = suspects }

    /// Whether entries must be examined one by one.
    var isWatching: Bool { !suspects.isEmpty || !effects.isEmpty || !hashes.isEmpty }

    /// Whether something waits for a turn of its own.
    var hasDeferred: Bool { !deferred.isEmpty || !retries.isEmpty }

    /// Whether this turn takes no more entries.
    var mustWait: Bool { isAlone || !deferred.isEmpty }

    /// Takes note of the quarantine, after events were set aside or taken out.
    mutating func watch(_ quarantine: [UInt64: QuarantineRecord]) {
        effects = Set(quarantine.values.compactMap(\.effect))
        hashes = Set(quarantine.values.lazy.filter(\.isOfSender).map { StableHash.quick($0.bytes) })
    }

    // MARK: Entries

    /// What to do with an entry.
    enum Verdict: Equatable {
        case consume
        /// The process ended in it once, so it is consumed alone in this turn.
        case consumeAlone
        /// The process ended in it once, and this turn has records already, so it waits for its own turn.
        case wait
        /// It has ended the process too often.
        case setAside(Suspect)
        /// An event of this effect, or of a sender, with equal bytes is already set aside.
        case refuse
    }

    /// Judges an entry that is about to be consumed.
    /// - Parameters:
    ///   - isApplied: whether it is an event that would be applied.
    ///   - isFirst: whether the turn has no records yet.
    mutating func examine(
        _ entry: Entry, _ origin: EntryNumber, isApplied: Bool, isFirst: Bool,
        _ quarantine: [UInt64: QuarantineRecord], _ rules: BrokenRules
    ) -> Verdict {
        guard let suspect = suspects.first(where: { $0.isSame(as: entry, origin.number, of: origin.session) }) else {
            return isApplied && isKnown(entry, origin, quarantine) ? .refuse : .consume
        }
        var verdict = Verdict.consume
        if isApplied {
            let isPoison = suspect.crashes >= Suspect.crashesMax && !rules.contains(.poisonIsSetAside)
            if isPoison || rules.contains(.suspectsAreTriedAgain) {
                verdict = .setAside(suspect)
            } else {
                guard isFirst else { return .wait }
                isAlone = true
                verdict = .consumeAlone
            }
        }
        survivors.append(suspect)
        return verdict
    }

    private func isKnown(_ entry: Entry, _ origin: EntryNumber, _ quarantine: [UInt64: QuarantineRecord]) -> Bool {
        guard let effect = entry.effect else {
            guard origin.session != .none, hashes.contains(StableHash.quick(entry.payload)) else { return false }
            return quarantine.values.contains { $0.isOfSender && $0.bytes == entry.payload }
        }
        return effects.contains(effect)
            && quarantine.values.contains { $0.effect == effect && $0.bytes == entry.payload }
    }

    // MARK: Waiting entries

    /// Puts off the rest of a batch, and everything after it, to another turn, so that the session's order is kept.
    /// - Returns: whether there was space. If not, the rest counts as lost on its way, and comes again.
    mutating func putOff(_ batch: Batch, from offset: Int, _ context: TurnContext) -> Bool {
        let offset = context.breaks(.deferredBatchesAreWhole) && offset > 0 ? offset + 1 : offset
        guard offset < batch.entries.count else { return true }
        var rest = batch
        rest.first += UInt64(offset)
        rest.entries.removeFirst(offset)
        let limit =
            context.breaks(.deferredBatchesAreBounded) ? .max : context.configuration.deferredBatchesMax
        return deferred.append(rest, atMost: limit)
    }

    mutating func takeDeferred() -> [Batch] { deferred.takeAll() }

    /// The number up to which a session's entries were read without a gap, including those that wait for their own turn.
    func received(of session: SessionID, after watermark: UInt64) -> UInt64 {
        var received = watermark
        for batch in deferred.batches where batch.session == session && batch.first <= received &+ 1 {
            received = max(received, batch.first + UInt64(batch.entries.count) - 1)
        }
        return received
    }

    // MARK: Quarantined events

    /// Takes a request to try a quarantined event again, in its own turn.
    /// - Returns: whether there was space.
    mutating func request(_ retry: QuarantineRetry) -> Bool {
        guard retries.count < Self.retriesMax else { return false }
        retries.append(retry)
        return true
    }

    /// The retry with which a turn begins.
    enum NextRetry: Equatable {
        case none
        /// A retry waits until the earlier records of this turn are committed.
        case waits
        /// This retry happens now, alone in its turn.
        case now(QuarantineRetry)
    }

    /// - Parameter isFirst: whether the turn has no records yet.
    mutating func takeRetry(isFirst: Bool) -> NextRetry {
        guard !retries.isEmpty else { return .none }
        guard isFirst, !isAlone else { return .waits }
        isAlone = true
        return .now(retries.removeFirst())
    }

    /// A quarantined event in which the process ended when it was tried again, or nil if it did not. The event is tried again
    /// at the next request.
    mutating func takeSuspect(retried id: UInt64) -> Suspect? {
        guard let suspect = suspects.first(where: { $0.isRetry && $0.number == id }) else { return nil }
        survivors.append(suspect)
        return suspect
    }

    // MARK: Survivors

    /// Clears suspects that were consumed before the journal's end, or that no peer can send again, once the records that prove
    /// it are durable. A timer that fired in the turn that started it stays a suspect. What started it may come again, and then
    /// the timer has the same ID.
    mutating func review(_ journaled: JournaledState) {
        for suspect in suspects where !suspect.isRetry && !suspect.isOfSchedule {
            if suspect.session == .none, let timer = suspect.effect, timer.seq > journaled.seq { continue }
            let isSettled = journaled.sessions[suspect.session].map { suspect.number <= $0.watermark } ?? true
            let isLive = suspect.effect.map { journaled.effects[$0] != nil } ?? false
            if isSettled && !isLive { survivors.append(suspect) }
        }
        watch(journaled.quarantine)
    }

    /// Ends the turn.
    /// - Returns: the suspects to be cleared once the turn is durable.
    mutating func endTurn() -> [Suspect] {
        defer { survivors = [] }
        isAlone = false
        return survivors
    }

    /// Clears the survivors of a turn that is durable.
    mutating func strike(_ survivors: [Suspect], from note: CrashNote?) {
        for survivor in survivors {
            note?.strike(survivor)
            suspects.removeAll { $0.isSame(as: survivor) }
        }
    }
}

/// An operator's request to apply a quarantined event after all.
struct QuarantineRetry: Equatable, Sendable {
    let id: UInt64
    let who: String
    let number: UInt64
    let route: Route
}

/// Batches that wait for their own turn, as many as one turn takes from the sockets. Others are dropped, and come again.
struct DeferredBatches: Sendable {
    private(set) var batches: [Batch] = []
    private var byteCount = 0
    private static let bytesMax = 16 << 20

    var isEmpty: Bool { batches.isEmpty }

    /// - Returns: whether there was space.
    mutating func append(_ batch: Batch, atMost batchesMax: Int) -> Bool {
        let bytes = batch.entries.byteCount
        guard batches.count < batchesMax, byteCount + bytes <= Self.bytesMax else { return false }
        batches.append(batch)
        byteCount += bytes
        return true
    }

    mutating func takeAll() -> [Batch] {
        defer { self = DeferredBatches() }
        return batches
    }
}
