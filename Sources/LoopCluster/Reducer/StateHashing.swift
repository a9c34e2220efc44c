import LoopCore
import LoopWire

/// Hashes of everything the journal determines, for whoever replays it. (Promise G8.)
///
///     small ──▶ state hash                    in one turn
///     large ──▶ state marked … mark hash      another thread hashes a copy while the loop goes on
struct StateHashing: Sendable {
    /// The seq of the newest hash, or of the mark whose hash is to come.
    private var seq = Seq.initial
    /// How many events come between two hashes at least.
    private var interval: UInt64 = 16
    /// The background job that hashes the state as it was at the newest mark; nil: none is under way.
    private var job: UInt64?

    /// Encoding and hashing cost 5 to 8 ns for each byte: 16 bytes for each event are about 100 ns.
    private static var bytesPerEvent: Int { 16 }

    /// Writes a hash where one is due: it costs what it is of, and comes only after as many events as make that cheap for each
    /// of them.
    mutating func hashIfDue(_ journaled: inout JournaledCore, _ turn: inout TurnOutput, _ context: TurnContext) {
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

    /// The hash of what was marked has come: it is the next record. That of an earlier mark is passed over.
    mutating func finish(
        _ job: UInt64, _ hash: UInt64, _ bytes: Int, _ journaled: inout JournaledCore, _ turn: inout TurnOutput
    ) {
        guard self.job == job else { return }
        self.job = nil
        turn.writeHash(.markHash(seq, hash), to: &journaled)
        noteDigest(of: bytes, &journaled)
    }

    /// What background jobs of the epoch before come to is not taken.
    mutating func forgetJob() { job = nil }

    private mutating func noteDigest(of bytes: Int, _ journaled: inout JournaledCore) {
        journaled.digestedBytes = bytes
        interval = max(16, UInt64(bytes / Self.bytesPerEvent))
    }
}
