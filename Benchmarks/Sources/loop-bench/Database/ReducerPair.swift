import LoopNode

/// Two reducers of one loop with a journal in PostgreSQL: one leads, the other one stands by.
struct ReducerPair {
    private let loop: String
    private let journal: String
    private let roles: RoleProcesses
    let addresses: [String]
    private(set) var leader: RoleProcess
    /// Nil between the end of a leader and the start of the next standby.
    private(set) var standby: RoleProcess?
    /// Which of the addresses is the leader's.
    private(set) var leading = 0

    /// Starts the one that leads, with a new journal.
    init(of loop: String, _ roles: RoleProcesses) async throws {
        self.loop = loop
        self.roles = roles
        journal = try await Databases.shared.make(.one)
        // A reducer listens where it did before. A port that the system gives to who dials could be taken by then.
        let port = 18_000 + 6 * Int.random(in: 0..<2000)
        addresses = [port, port + 3].map { "tcp://127.0.0.1:\($0)" }
        leader = try Self.start(loop, at: addresses[0], journal, roles)
        _ = try await leader.answer("leads")
    }

    private static func start(
        _ loop: String, at address: String, _ journal: String, _ roles: RoleProcesses
    ) throws -> RoleProcess {
        try roles.start("reducer", ["loop": loop, "journal": journal, "standby": "yes", "bind": address])
    }

    /// Both addresses, as peers are told them.
    var reducers: String { addresses.joined(separator: ",") }

    var standbyAddress: String { addresses[1 - leading] }

    /// Starts the one that stands by, and waits until it does.
    mutating func startStandby() async throws {
        let started = try Self.start(loop, at: standbyAddress, journal, roles)
        standby = started
        _ = try await started.line(with: "the leader is at")
    }

    /// Kills the leader, and waits until the other one leads.
    /// - Returns: when it was killed, in seconds.
    mutating func killLeader() async throws -> Double {
        let killed = MonotonicTime.seconds
        await leader.end()
        try await changeRoles()
        standby = nil
        return killed
    }

    /// The standby leads, or is about to, and the leader stands by.
    mutating func changeRoles() async throws {
        guard let successor = standby else { return }
        _ = try await successor.answer("leads")
        standby = leader
        leader = successor
        leading = 1 - leading
    }
}
