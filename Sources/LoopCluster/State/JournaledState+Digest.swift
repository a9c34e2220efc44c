import LoopCore
import LoopWire

/// Digests, which two processes compare to see that they have equal states.
extension JournaledState {
    /// A hash of the state, the live effects, the sessions and everything else that the journal determines. All processes that
    /// applied the same records get the same hash.
    /// - Returns: the hash, and how many bytes were hashed.
    package func digest() -> (hash: UInt64, bytes: Int) {
        // A state that cannot be encoded counts as empty.
        var state = (hash: StableHash.fnv1a([]), bytes: 0)
        try? loopState.withEncodedState { state = (StableHash.fnv1a($0), $0.count) }
        var writer = ByteWriter()
        writer.u64(seq.value)
        writer.u64(UInt64(bitPattern: time.milliseconds))
        writeEpochs(to: &writer)
        writeFeedbacks(to: &writer)
        writeEffects(to: &writer)
        writeSessions(to: &writer, withNotable: false)
        writeQuarantine(to: &writer)
        // The digests of journals without keys do not change.
        if sessions.contains(where: { $0.value.owner != nil }) { writeOwners(to: &writer) }
        if !schedules.isEmpty { writeSchedules(to: &writer) }
        return (StableHash.fnv1a(writer.bytes, seed: state.hash), state.bytes + writer.count)
    }

    /// Whether journaled digests are of this definition. They are not if another one's events were applied since the newest
    /// snapshot.
    var isComparable: Bool { foreign == nil && journaledDefinition?.fingerprint == loop.fingerprint.value }

    /// Compares with a journaled digest, if it is of this definition.
    mutating func compare(_ hash: UInt64, at seq: Seq) throws {
        guard isComparable else { return }
        let (found, bytes) = digest()
        digestedBytes = bytes
        guard found == hash else { throw ReplayDifference(seq: seq, journaled: hash, replayed: found) }
    }

    /// A copy for another thread to hash or encode. It lacks what only applying records needs, so that the next event does not
    /// have to copy that.
    var resting: JournaledState {
        var copy = self
        copy.note = nil
        copy.changes = []
        copy.live = []
        copy.loopState = loopState.resting
        return copy
    }

    /// The names of the parts in which two states of one loop differ; empty if they are equal. What senders have not yet
    /// confirmed is not compared, because forgetting it is not journaled.
    package func differences(from other: JournaledState) throws -> [String] {
        var names: [String] = []
        func compare(_ name: String, _ write: (JournaledState, inout ByteWriter) throws -> Void) rethrows {
            var mine = ByteWriter()
            var theirs = ByteWriter()
            try write(self, &mine)
            try write(other, &theirs)
            if mine != theirs { names.append(name) }
        }
        compare("seq") { $1.u64($0.seq.value) }
        try compare("state") { $1.append(bytes: try $0.loopState.encodedState()) }
        compare("effects") { $0.writeEffects(to: &$1) }
        try compare("what queries remember") { try $0.writeMemories(to: &$1) }
        compare("sessions") { $0.writeSessions(to: &$1, withNotable: false) }
        compare("idle times of sessions") { $0.writeIdleTimes(to: &$1) }
        compare("owners of sessions") { $0.writeOwners(to: &$1) }
        compare("time") { $1.u64(UInt64(bitPattern: $0.time.milliseconds)) }
        compare("epochs") { $0.writeEpochs(to: &$1) }
        compare("feedbacks") { $0.writeFeedbacks(to: &$1) }
        compare("quarantine") { $0.writeQuarantine(to: &$1) }
        compare("schedules") { $0.writeSchedules(to: &$1) }
        return names
    }
}
