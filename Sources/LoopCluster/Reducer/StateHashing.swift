import LoopCore

/// Hashes of everything the journal determines, to check replays. (Promise G8.)
///
///     small ──▶ state hash                    in one turn
///     large ──▶ state marked … mark hash      another thread hashes a copy while the loop goes on
struct StateHashing: Sendable {
    /// The seq of the newest hash, or of the mark whose hash is to come.
    private var seq = Seq.initial
    /// The least number of events between two hashes.
    private var interval: UInt64 = 16
    /// The number of the background job that hashes the state of the newest mark, or nil if none is under way.
    private var job: UInt64?

    /// Encoding and hashing cost 5 to 8 ns per byte, so 16 bytes for each event cost about 100 ns.
    private static var bytesPerEvent: Int { 16 }

    /// Writes a hash if one is due. The larger the state, the more events come between two hashes, so that the cost for each
    /// event stays small.
    mutating func hashIfDue(_ journaled: inout JournaledState, _ turn: inout TurnOutput, _ context: TurnContext) {
        guard context.configuration.stateHashes, journaled.seq.value - seq.value >= interval, job == nil else {
            return
        }
        seq = journaled.seq
        if journaled.digestedBytes > context.configuration.hashedBytesMax {
            turn.writeHash(.stateMarked(seq), to: &journaled)
            job = turn.wish(for: .digest(journaled.resting))
        } else {
            let (hash, bytes) = journaled.digest()
            turn.writeHash(.stateHash(seq, hash), to: &journaled)
            noteDigest(of: bytes, &journaled)
        }
    }

    /// Writes the hash of what was marked as the next record. The hash of an earlier mark is ignored.
    mutating func finish(
        _ job: UInt64, _ hash: UInt64, _ bytes: Int, _ journaled: inout JournaledState, _ turn: inout TurnOutput
    ) {
        guard self.job == job else { return }
        self.job = nil
        turn.writeHash(.markHash(seq, hash), to: &journaled)
        noteDigest(of: bytes, &journaled)
    }

    /// Forgets the job, so that a result from before the new history is ignored.
    mutating func forgetJob() { job = nil }

    private mutating func noteDigest(of bytes: Int, _ journaled: inout JournaledState) {
        journaled.digestedBytes = bytes
        interval = max(16, UInt64(bytes / Self.bytesPerEvent))
    }
}
