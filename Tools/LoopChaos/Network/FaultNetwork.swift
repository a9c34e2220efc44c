import Glibc
import LoopCollections

/// The network of a run: every process on a host of its own, all on one bridge, with a packet filter on each host.
///
/// Hosts are Linux network namespaces, so the network is separate from the machine's own and from that of other runs. If
/// namespaces are not available, hosts are loopback addresses, and no packets can be lost.
struct FaultNetwork: Sendable {
    /// Why hosts are only loopback addresses, or nil if they are namespaces.
    let obstacle: String?
    private let prefix: String
    /// The addresses of each host. The first is its own; further ones are for proxies.
    private let hosts: [String: [String]]

    /// The reducer, the proxies' host, and one host for each peer. If there are several reducers, each has a host like a
    /// peer's, and `reducerHost` is for participants that query them.
    static let reducerHost = "reducer"
    static let proxyHost = "proxy"

    /// - Parameter proxies: how many addresses the proxies have, or nil for one for each peer.
    init(peers: [Target], proxies: Int? = nil) async {
        await Self.removeLeftovers()
        let run = Self.runCount.withLock { count in
            count += 1
            return count
        }
        prefix = "\(Self.marker)\(getpid())-\(run)"
        obstacle = await Self.findObstacle(prefix)
        let number = getpid() + run
        let net = obstacle == nil ? "10.78.0" : "127.\(64 + number % 64).\(number / 64 % 256)"
        var hosts = [
            Self.reducerHost: ["\(net).1"],
            Self.proxyHost: ["\(net).2"] + (0..<(proxies ?? peers.count)).map { "\(net).\(100 + $0)" },
        ]
        for (index, peer) in peers.enumerated() { hosts[peer.description] = ["\(net).\(10 + index)"] }
        self.hosts = hosts
    }

    static let marker = "loop-chaos-"

    /// How many runs this process has begun.
    private static let runCount = Locked<Int32>(0)

    /// The address of a host.
    func address(_ host: String, _ index: Int = 0) -> String { hosts[host]?[index] ?? "127.0.0.1" }

    /// The network space in which a host's sockets are made.
    func space(_ host: String) -> NetworkSpace { obstacle == nil ? NetworkSpace(name: namespace(host)) : .own }

    // MARK: Building

    private func namespace(_ host: String) -> String { "\(prefix)-\(host)" }

    /// Builds the network.
    /// - Throws: `ChaosFailure` with the system's error.
    func build() async throws {
        guard obstacle == nil else { return }
        // The bridge has a namespace of its own, so that no host sees another's interface.
        let bridge = namespace("bridge")
        try await Tool.run("ip netns add \(bridge)")
        try await Tool.run("ip -n \(bridge) link add bridge type bridge")
        try await Tool.run("ip -n \(bridge) link set bridge up")
        for (number, host) in hosts.sorted(by: { $0.key < $1.key }).enumerated() {
            let space = namespace(host.key)
            try await Tool.run("ip netns add \(space)")
            try await Tool.run("ip link add port\(number) netns \(bridge) type veth peer name eth0 netns \(space)")
            try await Tool.run("ip -n \(bridge) link set port\(number) master bridge up")
            for address in host.value { try await Tool.run("ip -n \(space) addr add \(address)/24 dev eth0") }
            try await Tool.run("ip -n \(space) link set eth0 up")
            try await Tool.run("ip -n \(space) link set lo up")
        }
    }

    /// Removes everything of this run.
    /// - Returns: what remains nevertheless.
    func remove() async -> [String] {
        await Self.removeNamespaces(of: prefix)
        return await Self.namespaces().filter { $0.hasPrefix(prefix + "-") }
    }

    // MARK: Faults

    /// The table of the packet filter for a kind of fault, so that a loss and a partition can be combined.
    private func table(_ trouble: Fault.Trouble) -> String {
        switch trouble {
        case .loss: "loss"
        case .severed: "severed"
        default: "partition"
        }
    }

    /// Drops packets of the host from now on.
    func begin(_ trouble: Fault.Trouble, at host: String) async throws {
        let table = "inet \(table(trouble))"
        var rules = ["add table \(table)"]
        for (hook, interface, direction) in [("input", "iifname", Direction.toPeer), ("output", "oifname", .toReducer)]
        {
            let condition: String
            switch trouble {
            case .loss(let percent): condition = "numgen random mod 100 < \(percent)"
            case .partition(let way) where way == .both || way == direction: condition = ""
            // The database is behind the proxies.
            case .severed:
                let proxies = hosts[Self.proxyHost]?.joined(separator: ", ") ?? ""
                condition = "ip \(hook == "input" ? "saddr" : "daddr") { \(proxies) }"
            default: continue
            }
            rules.append("add chain \(table) \(hook) { type filter hook \(hook) priority 0; policy accept; }")
            rules.append("add rule \(table) \(hook) \(interface) eth0 \(condition) counter drop")
        }
        try await Tool.run(inHost(host) + ["nft", rules.joined(separator: "; ")])
    }

    /// Stops dropping packets.
    /// - Returns: how many packets were dropped.
    func end(_ trouble: Fault.Trouble, at host: String) async throws -> Int {
        let table = "inet \(table(trouble))"
        let listed = try await Tool.run(inHost(host) + ["nft", "list table \(table)"])
        try await Tool.run(inHost(host) + ["nft", "delete table \(table)"])
        return Self.droppedPackets(in: listed)
    }

    /// The sum of the counters in a listing: `… counter packets 12 bytes 3456 drop`.
    static func droppedPackets(in listing: [String]) -> Int {
        listing.reduce(0) { sum, line in
            let words = line.split(separator: " ")
            guard let index = words.firstIndex(of: "packets"), index + 1 < words.count else { return sum }
            return sum + (Int(words[index + 1]) ?? 0)
        }
    }

    private func inHost(_ host: String) -> [String] { ["ip", "netns", "exec", namespace(host)] }

    // MARK: Obstacles and leftovers

    /// Why namespaces and packet filters are not available here, or nil if they are.
    private static func findObstacle(_ prefix: String) async -> String? {
        guard getuid() == 0 else { return "network namespaces need root" }
        let probe = "\(prefix)-probe"
        var said: String?
        do {
            try await Tool.run("ip netns add \(probe)")
            try await Tool.run(["ip", "netns", "exec", probe, "nft", "add table inet probe"])
        } catch {
            said = "network namespaces with nftables cannot be had (packages iproute2, nftables): \(error)"
        }
        _ = try? await Tool.run("ip netns del \(probe)")
        return said
    }

    private static func namespaces() async -> [String] {
        let lines = (try? await Tool.run("ip netns list")) ?? []
        return lines.compactMap { $0.split(separator: " ").first.map(String.init) }
    }

    private static func removeNamespaces(of prefix: String) async {
        for name in await namespaces() where name.hasPrefix(prefix + "-") {
            _ = try? await Tool.run("ip netns del \(name)")
        }
    }

    /// Removes the namespaces of runs that were killed.
    private static func removeLeftovers() async {
        guard getuid() == 0 else { return }
        let owners = await namespaces().filter { $0.hasPrefix(marker) }.compactMap { name in
            Int32(name.dropFirst(marker.count).prefix { $0 != "-" })
        }
        for owner in Set(owners) where kill(owner, 0) != 0 { await removeNamespaces(of: "\(marker)\(owner)") }
    }
}
