import LoopKeys
import Synchronization
import ZMQ

/// Admits the keys of a list, with a role, and remembers who was asked for.
final class Admissions: Sendable {
    private struct State {
        var roles: [PublicKey: String] = [:]
        var asked: [ZAPRequest] = []
    }

    private struct ListIsUnreadable: Error {}

    private let state = Mutex(State())

    /// Fails for the key of this role.
    static let failing = "failing"

    var authenticator: ZAPAuthenticator {
        { [self] request in
            try state.withLock { state in
                state.asked.append(request)
                guard let role = state.roles[request.key] else { return .refuse }
                if role == Self.failing { throw ListIsUnreadable() }
                return .admit(properties: ["X-Role": role])
            }
        }
    }

    var asked: [ZAPRequest] { state.withLock(\.asked) }

    func admit(_ key: PublicKey, as role: String = "worker") { state.withLock { $0.roles[key] = role } }
    func revoke(_ key: PublicKey) { state.withLock { $0.roles[key] = nil } }
}

/// The sockets of a reducer and of its peers, which say something to it.
enum Pattern: CaseIterable {
    case pushToPull, dealerToRouter, subToXPub

    var server: SocketKind {
        switch self {
        case .pushToPull: .pull
        case .dealerToRouter: .router
        case .subToXPub: .xpub
        }
    }

    var client: SocketKind {
        switch self {
        case .pushToPull: .push
        case .dealerToRouter: .dealer
        case .subToXPub: .sub
        }
    }
}

/// A context that admits keys, and a key of its own.
struct Guarded {
    let admissions: Admissions
    let context: ZMQContext
    /// Of the peers.
    let outside: ZMQContext
    let keys: KeyPair

    init() throws {
        admissions = Admissions()
        context = try ZMQContext(authenticator: admissions.authenticator)
        outside = try ZMQContext()
        keys = try KeyPair()
    }

    func server(_ kind: SocketKind, domain: String = "loop") throws -> Socket {
        var options = SocketOptions()
        options.security = .server(secretKey: keys.secretKey, domain: domain)
        return try Socket(kind, in: context, options: options)
    }

    func client(_ kind: SocketKind, _ keys: KeyPair, of server: PublicKey? = nil) throws -> Socket {
        var options = SocketOptions()
        options.security = .client(serverKey: server ?? self.keys.publicKey, keys: keys)
        return try Socket(kind, in: outside, options: options)
    }

    /// A new key that is on the list.
    func admitted(as role: String = "worker") throws -> KeyPair {
        let keys = try KeyPair()
        admissions.admit(keys.publicKey, as: role)
        return keys
    }
}

/// Is down when it is first asked, and up from then on.
final class Flag: Sendable {
    private let isUp = Atomic(false)

    /// Whether it was up before.
    func raise() -> Bool { isUp.exchange(true, ordering: .relaxed) }
}
