import Foundation
import LoopNode
import LoopWire
import Testing

/// The attacker of Tests/IndependentPeer against a real reducer, which must not notice.
@Suite(.serialized, .timeLimit(.minutes(3))) struct `An attacker with strange messages` {
    /// An attack, and the counters of status that show it. With keys, bytes from a connection without one reach no counter.
    private struct Attack {
        let name: String
        var shownBy: [String] = []
        var shownWithKeys: [String] = []
    }

    private static let attacks = [
        Attack(name: "garbage", shownBy: ["malformedFrame"]),
        Attack(name: "half-open"),
        Attack(name: "wrong-types", shownBy: ["malformedFrame"], shownWithKeys: ["malformedFrame"]),
        Attack(
            name: "mutations", shownBy: ["malformedFrame", "unknownSession"],
            shownWithKeys: ["malformedFrame", "notAllowed"]),
        Attack(name: "nested", shownBy: ["malformedFrame"]),
        Attack(
            name: "extremes", shownBy: ["malformedFrame", "unknownSession"],
            shownWithKeys: ["malformedFrame", "notAllowed"]),
        // Without keys, these are of sessions that no peer has: any peer may speak for a session whose number it knows.
        Attack(name: "forged-batches", shownBy: ["unknownSession"], shownWithKeys: ["notAllowed"]),
        Attack(name: "subscriptions", shownBy: ["subscriptionRefused"], shownWithKeys: ["subscriptionRefused"]),
        Attack(name: "routing-ids"),
        Attack(name: "boxes", shownBy: ["handshakeFailed"], shownWithKeys: ["disconnected"]),
    ]

    /// A history that never was, of sessions that are not the attacker's. Without keys, anyone is believed.
    private static let attackOnHistory = Attack(name: "greetings", shownWithKeys: ["lossNotBelieved"])

    @Test(arguments: [false, true])
    func `G11 that may take part changes nothing for others, and is counted`(keys: Bool) async throws {
        let ledger = try await LedgerProcess(keys: keys)
        for attack in Self.attacks + (keys ? [Self.attackOnHistory] : []) {
            let before = try await ledger.status()
            let counters = keys ? attack.shownWithKeys : attack.shownBy
            func isShown(_ status: StatusReport) -> Bool {
                counters.allSatisfy { status.counters[$0] ?? 0 > before.counters[$0] ?? 0 }
            }
            // On a busy machine, what one run has sent may not have left when it ends.
            for _ in 0..<5 {
                let report = try await runAttacker(attack.name, ledger.independentOptions(.attacker), least: 51)
                #expect(try #require(report["sent"] as? Int) > 50, "\(attack.name)")
                #expect((report["refused"] as? [String: Any])?["inbox read"] == nil, "\(attack.name)")
                try await ledger.goesOn(after: attack.name)
                if isShown(try await ledger.status()) { break }
            }
            _ = try await ledger.status(where: isShown)
        }
        #expect(ledger.process.status == nil)
    }
}

@Suite(.timeLimit(.minutes(3))) struct `An attacker with many messages` {
    /// A flood: how much of it, for how long, and the counter of status that shows it.
    private struct Flood {
        let name: String
        let count: Int
        var seconds = 3
        var shownBy: String?
    }

    private static let floods = [
        Flood(name: "multipart", count: 3000, shownBy: "inputFull"),
        Flood(name: "unread", count: 10_000),
        Flood(name: "large-topics", count: 200, shownBy: "disconnected"),
        Flood(name: "subscription-flood", count: 20_000, shownBy: "subscriptionRefused"),
        Flood(name: "upstream", count: 10_000, shownBy: "subscriptionRefused"),
        Flood(name: "large-greetings", count: 200, shownBy: "malformedFrame"),
        Flood(name: "large-messages", count: 200, shownBy: "disconnected"),
        Flood(name: "sessions", count: 12_000, shownBy: "sessionShareFull"),
        // The silent ones end after five seconds.
        Flood(name: "connections", count: 1500, seconds: 7, shownBy: "connectionSilent"),
    ]

    @Test(arguments: [false, true]) func `G10 that floods a reducer takes little of it, and is counted`(keys: Bool)
        async throws
    {
        let ledger = try await LedgerProcess(keys: keys)
        for flood in Self.floods {
            let before = try await ledger.status()
            func isShown(_ status: StatusReport) -> Bool {
                flood.shownBy.map { status.counters[$0] ?? 0 > before.counters[$0] ?? 0 } ?? true
            }
            // An attacker shares the processors with everything else. On a busy machine, one run may send too little to be noticed.
            for _ in 0..<5 {
                let report = try await runAttacker(
                    flood.name, ledger.independentOptions(.attacker), count: flood.count, least: 21,
                    seconds: flood.seconds)
                #expect(try #require(report["sent"] as? Int) > 20, "\(flood.name)")
                try await ledger.goesOn(after: flood.name, megabytesMax: 256)
                if isShown(try await ledger.status()) { break }
            }
            _ = try await ledger.status(where: isShown)
        }
        #expect(ledger.process.status == nil)
    }
}

@Suite(.serialized, .timeLimit(.minutes(3))) struct `An attacker without the key that it needs` {
    @Test func `G12 without a key, or with one that is not admitted, gets nothing`() async throws {
        let ledger = try await LedgerProcess(keys: true)
        let stranger = try await ledger.strangersOptions()
        for options in [["--reducer", ledger.address.description], stranger] {
            let report = try await runAttacker("handshakes", options)
            #expect(report["received"] as? Int == 0)
            try await ledger.goesOn(after: "handshakes")
        }
        let notAdmitted = try await runAttacker("handshakes", stranger)
        #expect((notAdmitted["refused"] as? [String: Any])?["handshake_failed_auth"] != nil, "\(notAdmitted)")
    }

    @Test func `G12 with the key of another role is refused, and counted`() async throws {
        let ledger = try await LedgerProcess(keys: true)
        let before = try await ledger.send(LedgerProcess.event)
        ledger.folder.write("events", String(repeating: LedgerProcess.event + "\n", count: 20))
        let observer = try IndependentPeer.start(
            ["sender", "--events", "\(ledger.folder.path)/events", "--seconds", "10"]
                + ledger.independentOptions(.observer))
        #expect(await observer.process.wait() == .exited(3))
        #expect(observer.printed.contains("role"))
        let worker = try IndependentPeer.start(["worker"] + ledger.independentOptions(.sender))
        #expect(await worker.process.wait() == .exited(3))
        #expect(worker.printed.contains("role"))
        let follower = try IndependentPeer.start(["observer"] + ledger.independentOptions(.worker))
        #expect(await follower.process.wait() != .exited(0))
        let status = try await ledger.status { $0.counters["notAllowed"] ?? 0 >= 3 }
        #expect(status.seq == before)
        try await ledger.goesOn(after: "other roles")
    }
}

extension LedgerProcess {
    fileprivate static let event = #"{"hold":{"count":0}}"#

    /// The reducer lives, answers, applies the event of a well-behaved peer, and is not large.
    fileprivate func goesOn(after attack: String, megabytesMax: Int = 128) async throws {
        let before = try await status().seq
        #expect(try await send(Self.event) == before + 1, "\(attack)")
        #expect(process.status == nil, "\(attack)")
        let memory = try #require(residentKilobytes)
        #expect(memory < megabytesMax << 10, "\(memory) KB after \(attack)")
    }
}

/// - Returns: the attacker's report.
private func runAttacker(
    _ name: String, _ options: [String], count: Int = 4000, least: Int = 0, seconds: Int = 1
) async throws -> [String: Any] {
    let attacker = try IndependentPeer.start(
        ["attacker", name, "--count", "\(count)", "--least", "\(least)", "--seconds", "\(seconds)", "--seed", "7"]
            + options)
    return try IndependentPeer.report(try await attacker.finished())
}
