import LoopCluster
import LoopCore
import LoopKeys
import LoopWire
import Testing

/// A reducer with keys, and owners of some of them.
struct GuardedBench {
    var bench: ReducerBench
    let worker = GuardedBench.key(1)
    let observer = GuardedBench.key(2)
    let sender = GuardedBench.key(3)
    let admin = GuardedBench.key(4)
    let otherWorker = GuardedBench.key(5)
    let stranger = GuardedBench.key(9)

    init(replaying records: [Record] = [], breaking rules: [Rule] = []) throws {
        var setting = ReducerSetting()
        setting.isGuarded = true
        bench = try ReducerBench(setting: setting, replaying: records, breaking: rules)
        let keys = allowed
        bench.turn { $0.admit(keys) }
    }

    /// The owner of a key that is all this number.
    static func key(_ number: UInt8) -> PublicKey {
        guard let key = PublicKey(bytes: [UInt8](repeating: number, count: 32)) else { preconditionFailure("no key") }
        return key
    }

    var allowed: AllowedKeys {
        AllowedKeys([
            AllowedKey(worker, name: "w", roles: [.worker], groups: .named(["default"])),
            AllowedKey(observer, name: "o", roles: [.observer]), AllowedKey(sender, name: "s", roles: [.sender]),
            AllowedKey(admin, name: "a", roles: [.admin]),
            AllowedKey(otherWorker, name: "v", roles: [.worker], groups: .named(["video"])),
        ])
    }

    func without(_ key: PublicKey) -> AllowedKeys { AllowedKeys(allowed.keys.values.filter { $0.publicKey != key }) }

    /// Joins, and claims nothing unless it is said.
    /// - Parameter groups: the groups that it serves, or nil for those that are usual for the capacity.
    mutating func join(
        _ peer: PeerID, by key: PublicKey, capacity: UInt32 = 0, groups: [String]? = nil,
        claiming claims: [ClaimedAttempt] = []
    ) -> SessionID {
        var request = ReducerBench.joinRequest(peer, capacity: capacity)
        if let groups { request.groups = groups }
        let acceptance = bench.say(.join(request), from: peer, by: .key(key))
        let session = acceptance.compactMap { outbound -> SessionID? in
            guard case .inbox(peer, let frame) = outbound, case .joinAccepted = frame.message else { return nil }
            return frame.session
        }.first
        guard let session else { return .none }
        _ = bench.say(.claim(session, bench.machine.epoch, ClaimPart(claims)), from: peer, by: .key(key))
        return session
    }

    /// The refusal of a message from a principal, or nil if the principal may send it.
    mutating func refusal(of message: ToReducer, from peer: PeerID, by principal: Principal) -> Refused? {
        let before = bench.machine.counters[.notAllowed] ?? 0
        let refused = bench.say(message, from: peer, by: principal).messages(to: peer).compactMap { message in
            if case .refused(let refused, _) = message { refused } else { nil }
        }.first
        #expect((bench.machine.counters[.notAllowed] ?? 0) == before + (refused == nil ? 0 : 1))
        return refused
    }
}
