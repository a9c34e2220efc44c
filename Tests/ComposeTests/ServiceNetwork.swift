import Foundation
import Glibc
import LoopNode

/// Where the services of a compose file find each other: each on an address and, where that is permitted, in a network
/// namespace of its own, with the others' names in its `/etc/hosts`.
struct ServiceNetwork: Sendable {
    enum Kind: Sendable {
        /// Linux network namespaces on one bridge; nothing of it is in the machine's own namespace.
        case namespaces
        /// Addresses of loopback, put into the commands in place of names; why it is no more than that.
        case loopback(String)
    }

    let kind: Kind
    private let prefix: String
    private let addresses: [String: String]

    /// Runs `body` on a network with these hosts, and removes the network whatever happens.
    static func with<Result: Sendable>(
        _ hosts: [String], _ body: (ServiceNetwork) async throws -> Result
    ) async throws -> Result {
        await removeLeftovers()
        let prefix = "loop-compose-\(getpid())"
        let why = await obstacle(prefix)
        let network = ServiceNetwork(kind: why.map { .loopback($0) } ?? .namespaces, prefix: prefix, hosts: hosts)
        do {
            if why == nil { try await network.build(hosts) }
            let result = try await body(network)
            await removeNamespaces(of: prefix)
            return result
        } catch {
            await removeNamespaces(of: prefix)
            throw error
        }
    }

    private init(kind: Kind, prefix: String, hosts: [String]) {
        self.kind = kind
        self.prefix = prefix
        let net = if case .namespaces = kind { "10.77.0" } else { "127.\(64 + getpid() % 64).\(getpid() / 64 % 256)" }
        addresses = Dictionary(uniqueKeysWithValues: hosts.enumerated().map { ($1, "\(net).\($0 + 1)") })
    }

    /// The command that runs these words as the host, and its environment.
    func command(_ words: [String], on host: String, environment: [String: String]) -> (
        words: [String], environment: [String: String]
    ) {
        var environment = environment
        environment["PATH"] = "\(Project.executables):/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"
        switch kind {
        case .namespaces: return (["ip", "netns", "exec", namespace(host)] + words, environment)
        case .loopback: return (words.map { local($0, on: host) }, environment.mapValues { local($0, on: host) })
        }
    }

    /// Names become addresses, and "every address" and "this container" the host's own.
    private func local(_ word: String, on host: String) -> String {
        let own = addresses[host] ?? "127.0.0.1"
        var text = word.replacing("0.0.0.0", with: own).replacing("/127.0.0.1", with: "/\(own)")
        for (name, address) in addresses { text = text.replacing("//\(name):", with: "//\(address):") }
        return text
    }

    // MARK: Namespaces

    private func namespace(_ host: String) -> String { "\(prefix)-\(host)" }

    private func build(_ hosts: [String]) async throws {
        // The bridge has a namespace to itself, so that no host sees another's interface.
        let bridge = namespace("bridge")
        try await ip("netns add \(bridge)")
        try await ip("-n \(bridge) link add bridge type bridge")
        try await ip("-n \(bridge) link set bridge up")
        let names = "127.0.0.1 localhost\n" + addresses.map { "\($1) \($0)\n" }.joined()
        for (number, host) in hosts.enumerated() {
            let space = namespace(host)
            try await ip("netns add \(space)")
            try await ip("link add port\(number) netns \(bridge) type veth peer name eth0 netns \(space)")
            try await ip("-n \(bridge) link set port\(number) master bridge up")
            try await ip("-n \(space) addr add \(addresses[host] ?? "")/24 dev eth0")
            try await ip("-n \(space) link set eth0 up")
            try await ip("-n \(space) link set lo up")
            let folder = "/etc/netns/\(space)"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try names.write(toFile: "\(folder)/hosts", atomically: true, encoding: .utf8)
        }
    }

    private func ip(_ words: String) async throws {
        let result = try await Command.run("ip", words.split(separator: " ").map(String.init))
        guard result.exit.isSuccess else { throw ComposeFailure("ip \(words): \(result.exit): \(result.text)") }
    }

    /// Why network namespaces cannot be made here, or nil if they can.
    private static func obstacle(_ prefix: String) async -> String? {
        guard getuid() == 0 else { return "network namespaces need root" }
        let probe = "\(prefix)-probe"
        guard let made = try? await Command.run("ip", ["netns", "add", probe]) else {
            return "there is no program ip (Debian package iproute2)"
        }
        let ran = try? await Command.run("ip", ["netns", "exec", probe, "true"])
        _ = try? await Command.run("ip", ["netns", "del", probe])
        if made.exit.isSuccess, ran?.exit.isSuccess == true { return nil }
        return "network namespaces are not permitted: \(made.text) \(ran?.text ?? "")"
    }

    private static func removeNamespaces(of prefix: String) async {
        let listed = (try? await Command.run("ip", ["netns", "list"]))?.lines ?? []
        for line in listed where line.hasPrefix(prefix + "-") {
            let name = line.prefix { $0 != " " }
            _ = try? await Command.run("ip", ["netns", "del", String(name)])
        }
        let folders = (try? FileManager.default.contentsOfDirectory(atPath: "/etc/netns")) ?? []
        for folder in folders where folder.hasPrefix(prefix + "-") {
            try? FileManager.default.removeItem(atPath: "/etc/netns/\(folder)")
        }
        rmdir("/etc/netns")
    }

    /// What test processes that were killed have left.
    private static func removeLeftovers() async {
        let made =
            ((try? await Command.run("ip", ["netns", "list"]))?.lines ?? [])
            + ((try? FileManager.default.contentsOfDirectory(atPath: "/etc/netns")) ?? [])
        let owners = Set(
            made.compactMap { line -> Int32? in
                let words = line.split(separator: "-")
                guard words.count >= 3, line.hasPrefix("loop-compose-") else { return nil }
                return Int32(words[2])
            })
        for owner in owners where kill(owner, 0) != 0 { await removeNamespaces(of: "loop-compose-\(owner)") }
    }
}
