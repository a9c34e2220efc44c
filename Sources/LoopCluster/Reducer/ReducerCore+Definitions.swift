import LoopCore
import LoopWire

/// Peers with another definition than the reducer's: who is let in, what an older one may run, and how its events are read.
/// (Protocol, section 5.)
extension ReducerCore {
    /// Why a peer may not be let in, or nil. One of an older schema may be, where the definition reads its events.
    func objection(to joinRequest: JoinRequest, _ route: Route) -> Refused? {
        let schema = core.loop.schema
        let oldest = core.loop.oldestSchema
        if joinRequest.schema != 0 && !(oldest...max(oldest, schema)).contains(joinRequest.schema) {
            return Refused(
                .schema, reducer: oldest < schema ? "\(oldest) to \(schema)" : "\(schema)",
                peer: "\(joinRequest.schema)")
        }
        if joinRequest.fingerprint != 0 && joinRequest.fingerprint != fingerprint.value && !isOlder(joinRequest.schema)
        {
            return Refused(
                .definition, reducer: hexadecimal(fingerprint.value), peer: hexadecimal(joinRequest.fingerprint))
        }
        if route != .local && (joinRequest.groups.contains(localGroup) || joinRequest.peer == .local) {
            let groups = Set(core.loop.feedbacks.map(\.placement)).subtracting([localGroup])
            let others = groups.sorted().joined(separator: ", ")
            return Refused(.placement, reducer: others.isEmpty ? "none" : others, peer: localGroup)
        }
        return nil
    }

    private func isOlder(_ schema: UInt64) -> Bool { schema != 0 && schema < core.loop.schema }

    /// The numbers of the feedbacks that a peer of an older schema may run: those that it has under the same name and
    /// placement. Nil: all of them.
    func runnable(by joinRequest: JoinRequest) -> Set<UInt32>? {
        guard isOlder(joinRequest.schema) else { return nil }
        let lines = Set(joinRequest.feedbacks)
        return Set(zip(core.table.numbers, fingerprint.feedbacks).filter { lines.contains($1) }.map(\.0))
    }

    /// The schema in which a sender's events are encoded, where that is an older one; nil: they are journaled as received.
    func olderSchema(of session: SessionID) -> UInt64? {
        // Where no older schema is let in, nobody has to be looked up.
        guard core.loop.oldestSchema < core.loop.schema, let schema = members[session]?.schema, isOlder(schema) else {
            return nil
        }
        return schema
    }

    /// An event that was set aside as it was received, by a sender of some schema, and maybe by an older reducer: as an
    /// event of the newest schema that can read it; nil: none can.
    func presentEventSetAside(_ payload: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        if core.fold.canDecode(payload) { return payload }
        let schema = core.loop.schema
        for older in (min(core.loop.oldestSchema, schema)..<schema).reversed() {
            if let migrated = try? core.fold.migrate(payload, from: older), core.fold.canDecode(migrated[...]) {
                return migrated[...]
            }
        }
        return nil
    }
}
