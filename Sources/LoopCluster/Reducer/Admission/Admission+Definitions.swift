import LoopWire

/// The admission of peers with another definition than the reducer's. It decides which may join, which effects an older one may
/// run, and how its events are read. (Protocol, section 5.)
extension Admission {
    /// Why a peer is not admitted, or nil if it may be. One of an older schema may be admitted if the definition reads its events.
    static func objection(to joinRequest: JoinRequest, _ route: Route, _ loop: LoopFacts) -> Refused? {
        let (schema, oldest) = (loop.schema, loop.oldestSchema)
        if joinRequest.schema != 0 && !(oldest...max(oldest, schema)).contains(joinRequest.schema) {
            return Refused(
                .schema, reducer: oldest < schema ? "\(oldest) to \(schema)" : "\(schema)",
                peer: "\(joinRequest.schema)")
        }
        if joinRequest.fingerprint != 0 && joinRequest.fingerprint != loop.fingerprint.value
            && !loop.isOlder(joinRequest.schema)
        {
            return Refused(
                .definition, reducer: hexadecimal(loop.fingerprint.value), peer: hexadecimal(joinRequest.fingerprint))
        }
        let own = joinRequest.groups.first { $0 == localGroup || $0 == reducerGroup }
        if route != .local && (own != nil || joinRequest.peer == .local) {
            let groups = Set(loop.feedbacks.map(\.placement)).subtracting([localGroup, reducerGroup])
            let others = groups.sorted().joined(separator: ", ")
            return Refused(.placement, reducer: others.isEmpty ? "none" : others, peer: own ?? localGroup)
        }
        return nil
    }

    /// The older schema in which a sender's events are encoded, or nil if they are journaled as received.
    func olderSchema(of session: SessionID, _ loop: LoopFacts) -> UInt64? {
        // If no older schema is admitted, there is no need to look up the member.
        guard loop.oldestSchema < loop.schema, let schema = members[session]?.schema, loop.isOlder(schema) else {
            return nil
        }
        return schema
    }
}

extension LoopFacts {
    fileprivate func isOlder(_ schema: UInt64) -> Bool { schema != 0 && schema < self.schema }
}

extension JournaledState {
    /// The numbers of the feedbacks that a peer may run: those that it lists with their names and placements. The peer of this
    /// process has the reducer's definition, and may run all.
    func runnable(by joinRequest: JoinRequest) -> Set<UInt32> {
        if joinRequest.peer == .local { return Set(table.numbers) }
        let lines = Set(joinRequest.feedbacks)
        return Set(zip(table.numbers, loop.fingerprint.feedbacks).filter { lines.contains($1) }.map(\.0))
    }

    /// The missing records that a join request shows, or nil. A peer repeats only what the reducer reported, and the reducer
    /// reports only what is durable (G7).
    func missing(for joinRequest: JoinRequest, _ rules: BrokenRules) -> HistoryLost.Missing? {
        guard joinRequest.history == history, !rules.contains(.batchesNameTheirHistory),
            !rules.contains(.lostHistoryIsNoticed)
        else { return nil }
        let isKnown =
            rules.contains(.epochsHaveANonce) ? joinRequest.epoch.number <= epoch.number : knows(joinRequest.epoch)
        if !isKnown { return .epoch(joinRequest.epoch, newest: epoch) }
        if joinRequest.session >= nextSession { return .session(joinRequest.session, next: nextSession) }
        guard let record = sessions[joinRequest.session] else { return nil }
        // No number is assigned twice. This peer had the number in records that are gone, and another one got it since.
        if record.peer != joinRequest.peer { return .otherSession(joinRequest.session, of: record.peer) }
        if joinRequest.watermark > record.watermark {
            return .entries(joinRequest.session, acknowledged: joinRequest.watermark, watermark: record.watermark)
        }
        return nil
    }

    /// Decodes an event that was set aside as received, from a sender of some schema, and perhaps by an older reducer. Returns
    /// it as an event of the present schema, read by the newest schema that can, or nil if none can.
    func presentEventSetAside(_ payload: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        if loopState.canDecode(payload) { return payload }
        for older in (min(loop.oldestSchema, loop.schema)..<loop.schema).reversed() {
            if let migrated = try? loopState.migrate(payload, from: older), loopState.canDecode(migrated[...]) {
                return migrated[...]
            }
        }
        return nil
    }
}
