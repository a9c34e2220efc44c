import LoopCore
import LoopWire

/// Peers with another definition than the reducer's: who is let in, what an older one may run, and how its events are read.
/// (Protocol, section 5.)
extension ReducerMachine {
    /// Why a peer may not be let in, or nil. One of an older schema may be, where the definition reads its events.
    func objection(to greeting: Greeting, _ route: Route) -> Refused? {
        let schema = UInt64(Definition.schema)
        let oldest = UInt64(Definition.oldestSchema)
        if greeting.schema != 0 && !(oldest...max(oldest, schema)).contains(greeting.schema) {
            return Refused(
                .schema, reducer: oldest < schema ? "\(oldest) to \(schema)" : "\(schema)", peer: "\(greeting.schema)")
        }
        if greeting.fingerprint != 0 && greeting.fingerprint != fingerprint.value && !isOlder(greeting.schema) {
            return Refused(
                .definition, reducer: hexadecimal(fingerprint.value), peer: hexadecimal(greeting.fingerprint))
        }
        if route != .local && greeting.groups.contains(localGroup) {
            let groups = Set(core.feedbacks.map(\.placement.group)).subtracting([localGroup])
            let others = groups.sorted().joined(separator: ", ")
            return Refused(.placement, reducer: others.isEmpty ? "none" : others, peer: localGroup)
        }
        return nil
    }

    private func isOlder(_ schema: UInt64) -> Bool { schema != 0 && schema < UInt64(Definition.schema) }

    /// The numbers of the feedbacks that a peer of an older schema may run: those that it has under the same name and
    /// placement. Nil: all of them.
    func runnable(by greeting: Greeting) -> Set<UInt32>? {
        guard isOlder(greeting.schema) else { return nil }
        let lines = Set(greeting.feedbacks)
        return Set(zip(core.table.numbers, fingerprint.feedbacks).filter { lines.contains($1) }.map(\.0))
    }

    /// An event as its sender has encoded it.
    /// - Returns: the event, and the bytes that are journaled: in the present schema, so as received from all who have it.
    /// - Throws: where the bytes are not an event of the sender's schema.
    func decodeEvent(
        _ payload: ArraySlice<UInt8>, from session: SessionID
    ) throws -> (event: Definition.Event, bytes: ArraySlice<UInt8>) {
        guard let schema = members[session]?.schema, isOlder(schema) else {
            return (try core.coder.decode(Definition.Event.self, from: Array(payload)), payload)
        }
        return try migrate(payload, from: Int(clamping: schema))
    }

    /// An event that was set aside as it was received, by a sender of some schema, and maybe by an older reducer: as an
    /// event of the newest schema that can read it; nil: none can.
    func decodeSetAside(_ payload: ArraySlice<UInt8>) -> (event: Definition.Event, bytes: ArraySlice<UInt8>)? {
        if let event = try? core.coder.decode(Definition.Event.self, from: Array(payload)) { return (event, payload) }
        for schema in (min(Definition.oldestSchema, Definition.schema)..<Definition.schema).reversed() {
            if let migrated = try? migrate(payload, from: schema) { return migrated }
        }
        return nil
    }

    private func migrate(
        _ payload: ArraySlice<UInt8>, from schema: Int
    ) throws -> (event: Definition.Event, bytes: ArraySlice<UInt8>) {
        let event = try core.definition.migrateEvent(Encoded(Array(payload), coder: core.coder), from: schema)
        return (event, try core.coder.encode(event)[...])
    }
}
