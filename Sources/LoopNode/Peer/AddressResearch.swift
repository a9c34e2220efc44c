internal import Linux
import LoopCollections

/// Examines the addresses of a reducer on other threads, so that a peer's thread does not wait for that.
final class AddressResearch: Sendable {
    /// The findings since the last `take`.
    struct Findings: Sendable {
        /// Why no reducer answers, by address.
        var obstacles: [String: ReducerWait.Obstacle]?
        /// The addresses of the reducers, with names replaced by the addresses that they resolve to.
        var places: [String]?
        fileprivate var isLookingUp = false
    }

    private let reducer: ReducerAddress
    private let wakeup: Wakeup
    private let findings = Locked(Findings())

    init(_ reducer: ReducerAddress, wakeup: Wakeup) {
        self.reducer = reducer
        self.wakeup = wakeup
    }

    func take() -> Findings {
        findings.withLock { findings in
            defer { (findings.obstacles, findings.places) = (nil, nil) }
            return findings
        }
    }

    /// Finds out why no reducer answers.
    /// - Parameter ending: an address that has ended each handshake without a reason, or nil.
    func look(ending: ReducerAddress?) {
        var each = reducer.each
        if let ending, !each.contains(ending) { each.append(ending) }
        let places = each
        let body: @Sendable () -> Void = { [findings, wakeup] in
            let obstacles = places.map { ($0.description, AddressLook.obstacle(at: $0, isEnding: $0 == ending)) }
            findings.withLock { $0.obstacles = Dictionary(obstacles) { $1 } }
            wakeup.signal()
        }
        do {
            _ = try NodeThread("loop-look", stackBytes: 1 << 20, body: body)
        } catch {
            findings.withLock { $0.obstacles = [:] }
            wakeup.signal()
        }
    }

    /// Looks up the names among the addresses. A name with one address stays, because libzmq looks it up at each connection. Of
    /// several addresses libzmq would try only one.
    func lookUp() {
        guard reducer.endpoints.contains(where: { $0.name != nil }) else { return }
        let isBegun = findings.withLock { findings in
            defer { findings.isLookingUp = true }
            return findings.isLookingUp
        }
        if isBegun { return }
        let endpoints = reducer.endpoints
        let body: @Sendable () -> Void = { [findings, wakeup] in
            let places = Self.places(endpoints) { (try? Sockets.addresses(of: $0)) ?? [] }
            findings.withLock { findings in
                findings.places = places
                findings.isLookingUp = false
            }
            wakeup.signal()
        }
        // Without a thread the names stay as they are.
        if (try? NodeThread("loop-names", stackBytes: 1 << 20, body: body)) == nil {
            findings.withLock { $0.isLookingUp = false }
        }
    }

    /// The endpoints, with each name of several addresses replaced by these. A peer keeps only a few
    /// (``LeaderSearch/placesMax``), so the first address of each name comes before the second of any.
    /// - Parameter lookUp: finds the addresses of a name.
    static func places(_ endpoints: [Endpoint], _ lookUp: (String) -> [HostAddress]) -> [String] {
        let each = endpoints.map { endpoint -> [String] in
            // Name servers change the order with each answer.
            let addresses = endpoint.name.map { Set(lookUp($0)).sorted() } ?? []
            return addresses.count < 2 ? [endpoint.description] : addresses.map { endpoint.with($0).description }
        }
        return (0..<(each.map(\.count).max() ?? 0)).flatMap { index in
            each.compactMap { index < $0.count ? $0[index] : nil }
        }
    }
}
