internal import Linux
import LoopLock

/// What other threads find out about the addresses of a reducer, for the thread of a peer, which must not wait for it.
final class AddressResearch: Sendable {
    /// What was found out since it was last taken.
    struct Findings: Sendable {
        /// Why no reducer answers, by the address.
        var obstacles: [String: ReducerWait.Obstacle]?
        /// The addresses of the reducers, with those that names stand for in their places.
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
    func look() {
        let each = reducer.each
        let body: @Sendable () -> Void = { [findings, wakeup] in
            let obstacles = each.map { ($0.description, AddressLook.obstacle(at: $0)) }
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

    /// Looks up the names among the addresses. A name of one machine stays as it is: libzmq looks that up whenever it connects, and
    /// takes the first address of several.
    func lookUp() {
        guard reducer.endpoints.contains(where: { $0.name != nil }) else { return }
        let isBegun = findings.withLock { findings in
            defer { findings.isLookingUp = true }
            return findings.isLookingUp
        }
        if isBegun { return }
        let endpoints = reducer.endpoints
        let body: @Sendable () -> Void = { [findings, wakeup] in
            let places = Self.places(endpoints) { Sockets.addresses(of: $0) }
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

    /// The addresses with those of machines in place of the names that stand for several.
    /// - Parameter lookUp: the IPv4 addresses that a name stands for, in any order.
    static func places(_ endpoints: [Endpoint], _ lookUp: (String) -> [String]) -> [String] {
        endpoints.flatMap { endpoint -> [String] in
            guard case .tcp(_, let port) = endpoint, let name = endpoint.name else { return [endpoint.description] }
            // Servers of names change the order with each answer.
            let addresses = Set(lookUp(name)).sorted()
            return addresses.count < 2 ? [endpoint.description] : addresses.map { "tcp://\($0):\(port)" }
        }
    }
}

extension Endpoint {
    /// The name that has to be looked up; nil: there is none, or it is this machine's own.
    fileprivate var name: String? {
        guard case .tcp(let host, _) = self, !host.hasPrefix("["), host != "localhost", !Sockets.isAddress(host) else {
            return nil
        }
        return host
    }
}
