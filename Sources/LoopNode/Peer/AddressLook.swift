import CBOR
internal import Linux
import LoopWire

/// Finds out why there is no answer at an address. It makes a separate connection and sends the beginning of a greeting. If the
/// greeting that comes back is a reducer's, it requests the status.
package enum AddressLook {
    /// How long the connection, the greeting and the status may take each, if no other limit is given.
    package static let limit = Duration.seconds(1)

    /// A text for people, to follow a colon. Blocks as `obstacle` does.
    package static func text(at reducer: ReducerAddress, statusWithin statusLimit: Duration = limit) -> String {
        let each = reducer.each
        if each.count == 1 { return obstacle(at: reducer, statusWithin: statusLimit).text }
        return each.map { "\($0): \(obstacle(at: $0, statusWithin: statusLimit).text)" }.joined(separator: "; ")
    }

    /// Finds what is wrong at an address. Blocks as long as the limits allow, and as long as the system looks up the host's name.
    /// Each further address of the host that does not answer takes another second.
    /// - Parameters:
    ///   - reducer: the address of one reducer.
    ///   - isEnding: whether the other side has ended each handshake without a reason.
    ///   - greetingLimit: how long the connection may take, and then again the greeting.
    ///   - statusLimit: how long the status may take.
    static func obstacle(
        at reducer: ReducerAddress, isEnding: Bool = false, greetingWithin greetingLimit: Duration = limit,
        statusWithin statusLimit: Duration = limit
    ) -> ReducerWait.Obstacle {
        switch reducer.endpoint {
        case .ipc(let path) where !Sockets.isListening(atPath: path): .nothingListens
        case .ipc: isEnding ? .handshakes(.ended) : status(of: reducer, within: statusLimit)
        case .inproc: .nothingListens
        case .tcp(let host, let port):
            switch Sockets.tryConnecting(
                host: reducer.endpoint.address?.description ?? host, port: port,
                milliseconds: Int32(greetingLimit / .milliseconds(1)), greeting: Greeting.start,
                replyBytes: Greeting.byteCount)
            {
            case .accepted(let said, let hasEnded):
                obstacle(Greeting(said, hasEnded: hasEnded), reducer, isEnding, statusLimit)
            case .refused: .nothingListens
            case .silent: .unreachable("no answer from the machine")
            case .noSuchHost(let reason): .noSuchHost(reason)
            case .failed(let reason): .unreachable(reason)
            case .unknown: .unknown
            }
        }
    }

    private static func obstacle(
        _ greeting: Greeting, _ reducer: ReducerAddress, _ isEnding: Bool, _ statusLimit: Duration
    ) -> ReducerWait.Obstacle {
        switch (greeting, reducer.keys) {
        case (.cutShort, _): .handshakes(.ended)
        case (.mechanism("CURVE"), nil): .handshakes(.keysNeeded)
        case (.mechanism("NULL"), _?): .handshakes(.reducerWithoutKeys)
        case (.mechanism("CURVE"), let keys?) where isEnding: .handshakes(.otherReducerKey(keys.reducer))
        case (.mechanism, _): isEnding ? .handshakes(.ended) : status(of: reducer, within: statusLimit)
        case (.none, _): .mute
        case (.foreign, _): .foreign
        }
    }

    /// The obstacle that the reducer's own status shows.
    private static func status(of reducer: ReducerAddress, within limit: Duration) -> ReducerWait.Obstacle {
        let report: StatusReport
        do {
            report = try StatusProbe.ask(reducer, within: limit)
        } catch NodeError.refused(let why) {
            return .refused(why)
        } catch let error as WireError {
            return .refused("what answers there cannot be read (\(error)); is it a reducer of another version?")
        } catch {
            return .unanswered
        }
        let why = report.notReadyText
        if report.isStandby {
            return .standby(of: report.leader ?? "", because: report.journalFault == nil ? nil : why)
        }
        return why.map { .notReady($0) } ?? .reducer(of: report.loop)
    }
}

/// The first bytes from a listener: the greeting of ZeroMQ, or something else. (ZeroMQ RFC 23, section "Greeting")
enum Greeting: Equatable {
    /// It speaks ZeroMQ, with keys (`CURVE`) or without (`NULL`).
    case mechanism(String)
    /// It ended the connection before its greeting was complete.
    case cutShort
    /// It has sent nothing that differs from a greeting, and not a whole one.
    case none
    /// It speaks another protocol.
    case foreign

    /// The size of a whole greeting, in bytes.
    static let byteCount = 64
    /// The signature and the version, after which the other side sends the rest of its greeting.
    static let start: [UInt8] = signature + [3]
    private static let signature: [UInt8] = [0xFF, 0, 0, 0, 0, 0, 0, 0, 1, 0x7F]

    /// - Parameters:
    ///   - bytes: all bytes that the listener sent.
    ///   - hasEnded: whether it then ended the connection.
    init(_ bytes: [UInt8], hasEnded: Bool) {
        if bytes.count >= Self.byteCount, bytes[0] == Self.signature[0], bytes[9] == Self.signature[9] {
            self = .mechanism(String(decoding: bytes[12..<32].prefix { $0 != 0 }, as: UTF8.self))
        } else {
            let isZeroMQ = bytes.prefix(10).elementsEqual(Self.signature.prefix(bytes.count))
            self = !isZeroMQ ? .foreign : hasEnded ? .cutShort : .none
        }
    }
}
