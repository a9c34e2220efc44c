internal import Linux

/// Finds out why there is no answer at an address, by a connection of its own that says nothing.
package enum AddressLook {
    /// How long a connection may take.
    private static let connectLimitMilliseconds: Int32 = 1000

    /// For people, to follow a colon. Blocks as `obstacle` does.
    package static func text(at reducer: ReducerAddress) -> String {
        let each = reducer.each
        if each.count == 1 { return obstacle(at: reducer).text }
        return each.map { "\($0): \(obstacle(at: $0).text)" }.joined(separator: "; ")
    }

    /// Blocks for up to a second, and for as long as the system looks for a host's name.
    /// - Parameter reducer: the address of one reducer.
    static func obstacle(at reducer: ReducerAddress) -> ReducerWait.Obstacle {
        switch reducer.endpoint {
        case .ipc(let path): Sockets.isListening(atPath: path) ? .foreign : .nothingListens
        case .inproc: .nothingListens
        case .tcp(let host, let port): tcp(host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host, port)
        }
    }

    private static func tcp(_ host: String, _ port: UInt16) -> ReducerWait.Obstacle {
        switch Sockets.tryConnecting(host: host, port: port, milliseconds: connectLimitMilliseconds) {
        case .accepted: .foreign
        case .refused: .nothingListens
        case .silent: .unreachable("no answer from the machine")
        case .noSuchHost(let reason): .noSuchHost(reason)
        case .failed(let reason): .unreachable(reason)
        case .unknown: .unknown
        }
    }
}
