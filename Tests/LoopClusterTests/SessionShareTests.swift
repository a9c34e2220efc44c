import LoopCluster
import LoopCore
import LoopKeys
import LoopWire
import Testing

@Suite struct `Shares of the sessions` {
    /// Peers of one origin, each of which asks to join over a connection of its own unless one is given.
    private struct Crowd {
        let range: ClosedRange<UInt64>
        var route: Route?
        var principal: Principal

        func peer(_ number: UInt64) -> PeerID { PeerID(high: 5, low: number) }
    }

    private let sender = GuardedBench.key(3)
    private let otherSender = GuardedBench.key(6)

    /// - Returns: how many of them were admitted.
    private func join(_ crowd: Crowd, _ bench: inout ReducerBench) -> Int {
        crowd.range.count { number in
            let peer = crowd.peer(number)
            let request = ReducerBench.joinRequest(peer, capacity: 0)
            let route = crowd.route ?? .router([UInt8(number)])
            _ = bench.turn { $0.receive(.join(request), from: route, by: crowd.principal) }
            return bench.machine.journaled.sessionByPeer[peer] != nil
        }
    }

    private func bench(_ change: (inout ReducerConfiguration) -> Void) throws -> ReducerBench {
        var configuration = ReducerConfiguration()
        change(&configuration)
        return try ReducerBench(configuration: configuration)
    }

    private func reasons(_ out: [Outbound]) -> [String] {
        out.compactMap { outbound in
            guard case .reply(_, let frame) = outbound, case .busy(.join, _, let reason) = frame.message else {
                return nil
            }
            return reason
        }
    }

    @Test func `leave a place for others when one connection asks for a session for each of many peers`() throws {
        var bench = try bench { $0.sessionsMax = 20 }
        let flood = Crowd(range: 1...1000, route: .router([200]), principal: .unknown)
        #expect(join(flood, &bench) == 16)
        #expect(bench.machine.counters[.sessionShareFull] == 984)
        let request = ReducerBench.joinRequest(flood.peer(1001), capacity: 0)
        #expect(
            reasons(bench.turn { $0.receive(.join(request), from: .router([200]), by: .unknown) }) == [
                "all 16 sessions that one connection may have are taken, and the peer of each is there, has effects or has"
                    + " to be told of outcomes"
            ])
        #expect(bench.join(alice) != .none)
        #expect(bench.machine.counters[.sessionsFull] == nil)
    }

    @Test func `give a connection another session in the place of its own idle one, and of no other's`() throws {
        var bench = try bench { $0.sessionsMax = 100 }
        let first = bench.join(alice, capacity: 0)
        #expect(join(Crowd(range: 1...16, route: .router([200]), principal: .unknown), &bench) == 16)
        for _ in 0..<8 { bench.turn(after: 500) }
        #expect(join(Crowd(range: 17...20, route: .router([200]), principal: .unknown), &bench) == 4)
        #expect(bench.machine.counters[.sessionEvicted] == 4)
        #expect(bench.machine.journaled.sessions.count == 17)
        #expect(bench.machine.journaled.sessions[first] != nil)
    }

    @Test(arguments: [false, true]) func `keep one key from taking the sessions of others`(restarted: Bool) throws {
        var setting = ReducerSetting()
        setting.isGuarded = true
        let configuration = ReducerConfiguration(sessionsMax: 8)
        let keys = AllowedKeys([
            AllowedKey(sender, name: "s", roles: [.sender]), AllowedKey(otherSender, name: "t", roles: [.sender]),
        ])
        var bench = try ReducerBench(configuration: configuration, setting: setting)
        bench.turn { $0.admit(keys) }
        #expect(join(Crowd(range: 1...3, principal: .key(sender)), &bench) == 3)
        if restarted {
            bench = try ReducerBench(configuration: configuration, setting: setting, replaying: bench.records)
            bench.turn { $0.admit(keys) }
        }
        #expect(join(Crowd(range: 4...50, principal: .key(sender)), &bench) == 1)
        #expect(join(Crowd(range: 51...54, principal: .key(otherSender)), &bench) == 4)
        #expect(bench.machine.counters[.sessionShareFull] == 46)
    }

    @Test func `keep one machine from taking the sessions of others where there are no keys`() throws {
        var bench = try bench {
            $0.sessionsMax = 8
            $0.sessionsPerKeyMax = 3
        }
        #expect(join(Crowd(range: 1...50, principal: .address("192.0.2.1")), &bench) == 3)
        #expect(join(Crowd(range: 51...53, principal: .address("192.0.2.2")), &bench) == 3)
        #expect(join(Crowd(range: 54...55, principal: .unknown), &bench) == 2)
    }

    @Test func `are free again when their sessions have ended`() throws {
        var bench = try bench { $0.sessionsPerKeyMax = 1 }
        let address = Principal.address("192.0.2.1")
        let crowd = Crowd(range: 1...1, principal: address)
        #expect(join(crowd, &bench) == 1)
        let session = try #require(bench.machine.journaled.sessionByPeer[crowd.peer(1)])
        #expect(join(Crowd(range: 2...2, principal: address), &bench) == 0)
        let goodbye = ToReducer.goodbye(session, crowd.peer(1), bench.machine.history)
        bench.turn { $0.receive(goodbye, from: .router([1]), by: address) }
        #expect(join(Crowd(range: 2...2, principal: address), &bench) == 1)
    }
}
