import LoopKeys
import LoopWire

/// The origin of each session, so that no connection, key or other machine can take all of them. (Protocol, section 10.)
struct SessionOrigins: Sendable {
    enum Origin: Hashable, Sendable {
        /// A connection to the router, by its routing ID. Its peer needs one session.
        case connection([UInt8])
        case key(PublicKey)
        /// Another machine, if the reducer has no keys.
        case address(String)
    }

    private var sessions: [Origin: Set<SessionID>] = [:]
    private var origins: [SessionID: [Origin]] = [:]

    /// The origins of what a principal sends by a route; empty for the peer of this process.
    static func origins(of principal: Principal, owner: PublicKey?, _ route: Route) -> [Origin] {
        guard case .router(let id) = route else { return [] }
        var origins = [Origin.connection(id)]
        if let owner { origins.append(.key(owner)) }
        if case .address(let address) = principal { origins.append(.address(address)) }
        return origins
    }

    /// The sessions that come from an origin.
    subscript(origin: Origin) -> Set<SessionID> { sessions[origin] ?? [] }

    /// Sets the origins of a session.
    mutating func note(_ session: SessionID, from new: [Origin]) {
        if origins[session] == new { return }
        remove(session)
        guard !new.isEmpty else { return }
        origins[session] = new
        for origin in new { sessions[origin, default: []].insert(session) }
    }

    /// Removes a session that has ended.
    mutating func remove(_ session: SessionID) {
        for origin in origins.removeValue(forKey: session) ?? [] {
            sessions[origin]?.remove(session)
            if sessions[origin]?.isEmpty == true { sessions[origin] = nil }
        }
    }
}

extension ReducerConfiguration {
    /// How many sessions may come from an origin.
    func sessionsMax(of origin: SessionOrigins.Origin) -> Int {
        switch origin {
        case .connection: sessionsPerConnectionMax
        case .key, .address: sessionsPerKeyMax ?? max(1, sessionsMax / 2)
        }
    }
}
