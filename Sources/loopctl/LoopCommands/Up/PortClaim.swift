import Glibc
import Linux
import LoopNode

/// Three consecutive free ports of 127.0.0.1, reserved against other `loopctl up` until the claim is released.
///
/// The ports themselves must stay free for the reducer. So the claim is a UDP socket at the first of them, because UDP and TCP
/// ports are separate. Ports that the system uses for outgoing connections (from 32768 on) are not used.
final class PortClaim: Sendable {
    /// The first of the three.
    let port: UInt16
    private let claim: Int32

    /// The address for a reducer.
    var address: BindAddress { get throws { try BindAddress(parsing: "tcp://127.0.0.1:\(port)") } }

    /// Claims three ports, if possible from the standard port, 7710.
    ///
    /// - Throws: `CommandError` if no three ports are free.
    init() throws(CommandError) {
        // The ports are multiples of three apart, so that two claims are equal or have no port in common.
        let places = [0] + (0..<200).map { _ in 4100 + SystemRandom.uint64() % 4000 }
        for place in places {
            let first = UInt16(7710 + 3 * place)
            guard let claim = Self.bind(first, Int32(SOCK_DGRAM.rawValue), isReusing: false) else { continue }
            if (first...first + 2).allSatisfy(Self.isFree) {
                port = first
                self.claim = claim
                return
            }
            close(claim)
        }
        throw CommandError("no three consecutive ports of 127.0.0.1 are free; name an address by --bind")
    }

    /// Releases the claim after the reducer has ended.
    func giveUp() { close(claim) }

    private static func isFree(_ port: UInt16) -> Bool {
        // Binds as ZeroMQ does, so that connections that were closed a moment ago do not count.
        guard let socket = bind(port, Int32(SOCK_STREAM.rawValue), isReusing: true) else { return false }
        close(socket)
        return true
    }

    private static func bind(_ port: UInt16, _ kind: Int32, isReusing: Bool) -> Int32? {
        let socket = Glibc.socket(AF_INET, kind | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard socket >= 0 else { return nil }
        Sockets.set(SO_REUSEADDR, of: SOL_SOCKET, on: socket, to: isReusing ? 1 : 0)
        if (try? Sockets.bind(socket, host: "127.0.0.1", port: port)) != nil { return socket }
        close(socket)
        return nil
    }
}
