import LoopCore
import LoopWire

/// When the state was hashed last, and when it is hashed again.
struct StateHashing: Sendable {
    /// The seq of the newest hash, or of the mark whose hash is to come.
    var seq = Seq.initial
    /// How many events come between two hashes at least.
    var interval: UInt64 = 16
    /// The background job that hashes the state as it was at the newest mark; nil: none is under way.
    var job: UInt64?
}

/// Hashes of everything the journal determines, for whoever replays it. (Promise G8.)
///
///     small ──▶ state hash                    in one turn
///     large ──▶ state marked … mark hash      another thread hashes a copy while the loop goes on
extension ReducerCore {
    /// Encoding and hashing cost 5 to 8 ns for each byte: 16 bytes for each event are about 100 ns.
    private var bytesPerEvent: Int { 16 }

    /// A hash costs what it is of: one comes only after as many events as make that cheap for each of them.
    mutating func hashState() {
        guard configuration.stateHashes, core.seq.value - hashing.seq.value >= hashing.interval, hashing.job == nil
        else { return }
        hashing.seq = core.seq
        if core.digestedBytes > configuration.hashedBytesMax {
            records.append(.stateMarked(core.seq))
            core.countRecordOfHash()
            hashing.job = wish(for: .digest(core.resting))
        } else {
            let (hash, bytes) = core.digest()
            records.append(.stateHash(core.seq, hash))
            core.countRecordOfHash()
            noteDigest(of: bytes)
        }
    }

    /// The hash of what was marked is there: it is the next record.
    mutating func finishHash(_ hash: UInt64, _ bytes: Int) {
        records.append(.markHash(hashing.seq, hash))
        core.countRecordOfHash()
        noteDigest(of: bytes)
    }

    private mutating func noteDigest(of bytes: Int) {
        core.digestedBytes = bytes
        hashing.interval = max(16, UInt64(bytes / bytesPerEvent))
    }
}
