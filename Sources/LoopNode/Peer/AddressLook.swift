internal import Linux

/// Finds out why there is no answer at an address. It makes a connection of its own, which sends the beginning of a greeting.
package enum AddressLook {
    /// How long the connection, and then the answer, may take.
    private static let limitMilliseconds: Int32 = 1000

    /// For people, to follow a colon. Blocks as `obstacle` does.
    package static func text(at reducer: ReducerAddress) -> String {
        let each = reducer.each
        if each.count == 1 { return obstacle(at: reducer).text }
        return each.map { "\($0): \(obstacle(at: $0).text)" }.joined(separator: "; ")
    }

    /// Blocks for up to two seconds, and for as long as the system looks for a host's name.
    /// - Parameters:
    ///   - reducer: the address of one reducer.
    ///   - isEnding: whether the other side has ended each handshake without a reason.
    static func obstacle(at reducer: ReducerAddress, isEnding: Bool = false) -> ReducerWait.Obstacle {
        switch reducer.endpoint {
        case .ipc(let path) where !Sockets.isListening(atPath: path): .nothingListens
        case .ipc: isEnding ? .handshakes(.ended) : .foreign
        case .inproc: .nothingListens
        case .tcp(let host, let port):
            switch Sockets.tryConnecting(
                host: reducer.endpoint.address?.description ?? host, port: port, milliseconds: limitMilliseconds,
                greeting: Greeting.start, replyBytes: Greeting.byteCount)
            {
            case .accepted(let said, let hasEnded): obstacle(Greeting(said, hasEnded: hasEnded), reducer.keys, isEnding)
            case .refused: .nothingListens
            case .silent: .unreachable("no answer from the machine")
            case .noSuchHost(let reason): .noSuchHost(reason)
            case .failed(let reason): .unreachable(reason)
            case .unknown: .unknown
            }
        }
    }

    private static func obstacle(_ greeting: Greeting, _ keys: PeerKeys?, _ isEnding: Bool) -> ReducerWait.Obstacle {
        switch (greeting, keys) {
        case (.cutShort, _): .handshakes(.ended)
        case (.mechanism("CURVE"), nil): .handshakes(.keysNeeded)
        case (.mechanism("NULL"), _?): .handshakes(.reducerWithoutKeys)
        case (.mechanism("CURVE"), let keys?) where isEnding: .handshakes(.otherReducerKey(keys.reducer))
        case (.mechanism, _), (.foreign, _): .foreign
        }
    }
}

/// The first bytes of a listener: the greeting of ZeroMQ, or something else. (ZeroMQ RFC 23, section "Greeting")
enum Greeting: Equatable {
    /// It speaks ZeroMQ, with keys (`CURVE`) or without (`NULL`).
    case mechanism(String)
    /// It ended the connection before its greeting was complete.
    case cutShort
    /// It speaks another protocol, or waits for one.
    case foreign

    /// The size of a whole greeting.
    static let byteCount = 64
    /// The signature and the version, after which the other side sends the rest of its greeting.
    static let start: [UInt8] = signature + [3]
    private static let signature: [UInt8] = [0xFF, 0, 0, 0, 0, 0, 0, 0, 1, 0x7F]

    /// - Parameters:
    ///   - bytes: all bytes that the listener sent.
    ///   - hasEnded: whether it ended the connection then.
    init(_ bytes: [UInt8], hasEnded: Bool) {
        if bytes.count >= Self.byteCount, bytes[0] == Self.signature[0], bytes[9] == Self.signature[9] {
            self = .mechanism(String(decoding: bytes[12..<32].prefix { $0 != 0 }, as: UTF8.self))
        } else {
            let isZeroMQ = bytes.prefix(10).elementsEqual(Self.signature.prefix(bytes.count))
            self = hasEnded && isZeroMQ ? .cutShort : .foreign
        }
    }
}
