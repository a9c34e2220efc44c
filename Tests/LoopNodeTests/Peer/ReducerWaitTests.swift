import Glibc
import LoopCollections
import LoopCore
import LoopWire
import TestFolders
import Testing
import ZMQ

@testable import LoopNode

@Suite struct `A node that waits for its reducer` {
    private typealias Action = ReducerWait.Action
    private let gone = ReducerWait.Facts(place: "tcp://r:7710", isJoined: false, isConnected: false, busy: nil)
    private let connected = ReducerWait.Facts(place: "tcp://r:7710", isJoined: false, isConnected: true, busy: nil)
    private let joined = ReducerWait.Facts(place: "tcp://r:7710", isJoined: true, isConnected: true, busy: nil)

    private func at(_ milliseconds: Int) -> MonotonicTime { .zero + .seconds(1000) + .milliseconds(milliseconds) }

    private func waiting(timeout: Duration? = nil) -> ReducerWait {
        ReducerWait(reducer: "tcp://r:7710", timeout: timeout, at: at(0))
    }

    @Test func `says of each address why nothing comes from it`() {
        var wait = ReducerWait(reducer: "tcp://a:1,tcp://b:2,tcp://c:3", timeout: nil, at: at(0))
        let standby = ReducerWait.Facts(place: "tcp://b:2", isJoined: false, isConnected: true, standbyOf: "")
        #expect(wait.advance(to: at(500), standby) == [])
        // What the dialled address says is not all: the others are looked at.
        let silent = ReducerWait.Facts(place: "tcp://x:9", isJoined: false, isConnected: true)
        #expect(wait.advance(to: at(2000), silent) == [.look])
        let found: [String: ReducerWait.Obstacle] = [
            "tcp://a:1": .nothingListens, "tcp://b:2": .foreign,
            "tcp://c:3": .unreachable("no answer from the machine"),
        ]
        let why =
            "tcp://a:1: nothing listens there; tcp://b:2: a standby answers, and knows no leader;"
            + " tcp://c:3: it cannot be reached (no answer from the machine);"
            + " tcp://x:9: there is a connection, but no reducer of this loop answers yet"
        #expect(
            wait.learned(found, at: at(2001)) == [
                .waiting(
                    "waiting for a reducer at tcp://a:1,tcp://b:2,tcp://c:3 for 2 s: \(why); is the address right?"
                        + " (--reducer or LOOP_REDUCER)", for: .milliseconds(2001), because: why)
            ])
    }

    @Test func `keeps what an address has answered, unless a look finds the reason`() {
        let answers: [(ReducerWait.Facts, String)] = [
            (.init(place: "tcp://a:1", isJoined: false, isConnected: true, standbyOf: ""), "knows no leader"),
            (.init(place: "tcp://a:1", isJoined: false, isConnected: true, busy: "it is full"), "it is full"),
            (.init(place: "tcp://a:1", isJoined: false, isConnected: true), "there is a connection"),
        ]
        for (facts, text) in answers {
            for (found, isKept) in [(ReducerWait.Obstacle.foreign, true), (.unknown, true), (.nothingListens, false)] {
                var wait = ReducerWait(reducer: "tcp://a:1,tcp://b:2", timeout: nil, at: at(0))
                #expect(wait.advance(to: at(2000), facts) == [.look])
                guard case .waiting(_, _, let why)? = wait.learned(["tcp://a:1": found], at: at(2001)).first else {
                    Issue.record("nothing is said")
                    continue
                }
                #expect(why.contains(text) == isKept, "\(why)")
            }
        }
    }

    @Test func `keeps why handshakes fail, unless a look finds more`() {
        let full = ReducerWait.Facts(place: "tcp://a:1", isJoined: false, isConnected: false, handshakes: .ended)
        let looks: [(ReducerWait.Obstacle, Bool)] = [
            (.unanswered, true), (.mute, true), (.unknown, true), (.foreign, false), (.nothingListens, false),
        ]
        for (found, isKept) in looks {
            var wait = ReducerWait(reducer: "tcp://a:1,tcp://b:2", timeout: nil, at: at(0))
            #expect(wait.advance(to: at(2000), full) == [.look])
            guard case .waiting(_, _, let why)? = wait.learned(["tcp://a:1": found], at: at(2001)).first else {
                Issue.record("no line")
                continue
            }
            #expect(why.contains("--connections-max") == isKept, "\(why)")
        }
    }

    @Test func `says nothing where the reducer answers soon`() {
        var wait = waiting()
        #expect(wait.deadline == at(2000))
        #expect(wait.advance(to: at(1999), gone) == [])
        #expect(wait.advance(to: at(1999), joined) == [])
        #expect(wait.deadline == MonotonicTime(nanoseconds: .max))
    }

    @Test func `says what it waits for, where, for how long and why, ever more rarely, and when that is over`() {
        var wait = waiting()
        func line(_ duration: String, _ milliseconds: Int, _ why: String) -> [Action] {
            [
                .waiting(
                    "waiting for a reducer at tcp://r:7710 for \(duration): \(why); is the address right?"
                        + " (--reducer or LOOP_REDUCER)", for: .milliseconds(milliseconds), because: why)
            ]
        }
        #expect(wait.advance(to: at(2000), gone) == [.look])
        // One look at a time.
        #expect(wait.advance(to: at(2500), gone) == [])
        #expect(wait.deadline == MonotonicTime(nanoseconds: .max))
        #expect(
            wait.learned(["tcp://r:7710": .nothingListens], at: at(3000)) == line("3 s", 3000, "nothing listens there"))
        #expect(wait.deadline == at(10_000))
        #expect(wait.advance(to: at(9999), gone) == [])
        #expect(wait.advance(to: at(10_000), gone) == [.look])
        let name = "the host name has no address (Name or service not known)"
        #expect(
            wait.learned(["tcp://r:7710": .noSuchHost("Name or service not known")], at: at(10_001))
                == line("10 s", 10_001, name))
        #expect(wait.deadline == at(60_000))
        #expect(
            wait.advance(to: at(60_000), connected)
                == line("60 s", 60_000, "there is a connection, but no reducer of this loop answers yet"))
        let busy = ReducerWait.Facts(
            place: "tcp://r:7710", isJoined: false, isConnected: true, busy: "it has too many sessions")
        #expect(
            wait.advance(to: at(600_000), busy)
                == line("10 min", 600_000, "the reducer asks to try again later: it has too many sessions"))
        #expect(wait.deadline == at(1_200_000))
        #expect(
            wait.advance(to: at(1_190_000), joined) == [
                .reconnected("the reducer at tcp://r:7710 answers, after 19 min", after: .seconds(1190))
            ])
    }

    @Test func `does not catch up on lines that were late`() {
        var wait = waiting()
        #expect(wait.advance(to: at(2000), gone) == [.look])
        #expect(wait.learned(["tcp://r:7710": .unknown], at: at(11_000)).count == 1)
        #expect(wait.deadline == at(60_000))
    }

    @Test func `says so again when it has lost the reducer, with another hint`() {
        var wait = waiting()
        _ = wait.advance(to: at(10), joined)
        #expect(wait.advance(to: at(5000), gone) == [])
        #expect(wait.deadline == at(7000))
        #expect(wait.advance(to: at(7000), gone) == [.look])
        // A look that comes too late is not told.
        var late = wait
        #expect(
            late.advance(to: at(7010), joined) == [
                .reconnected("the reducer at tcp://r:7710 answers, after 2 s", after: .milliseconds(2010))
            ])
        #expect(late.learned(["tcp://r:7710": .nothingListens], at: at(7020)) == [])
        #expect(
            wait.learned(["tcp://r:7710": .nothingListens], at: at(7001)) == [
                .waiting(
                    "the reducer at tcp://r:7710 has not answered for 2 s: nothing listens there; waiting",
                    for: .milliseconds(2001), because: "nothing listens there")
            ])
        #expect(
            wait.advance(to: at(9000), joined) == [
                .reconnected("the reducer at tcp://r:7710 answers, after 4 s", after: .seconds(4))
            ])
    }

    @Test func `gives up after the connect timeout, with the reason`() {
        var wait = waiting(timeout: .seconds(3))
        #expect(wait.deadline == at(1500))
        #expect(wait.advance(to: at(1500), gone) == [.look])
        #expect(wait.learned(["tcp://r:7710": .nothingListens], at: at(1501)).count == 1)
        #expect(wait.deadline == at(3000))
        #expect(
            wait.advance(to: at(3000), gone) == [.giveUp(after: .seconds(3), because: "nothing listens there")])
        #expect(wait.advance(to: at(4000), gone) == [])
    }

    @Test func `gives up after the look that is under way, since it names the reason`() {
        var wait = waiting(timeout: .seconds(3))
        #expect(wait.advance(to: at(1500), gone) == [.look])
        #expect(wait.deadline == at(5000))
        #expect(wait.advance(to: at(3000), gone) == [])
        var late = wait
        #expect(wait.learned(["tcp://r:7710": .nothingListens], at: at(3001)).count == 1)
        #expect(wait.deadline == at(3000))
        #expect(
            wait.advance(to: at(3001), gone) == [.giveUp(after: .seconds(3), because: "nothing listens there")])
        // A look that never ends is not waited for.
        #expect(late.advance(to: at(4999), gone) == [])
        #expect(late.advance(to: at(5000), gone) == [.giveUp(after: .seconds(3), because: "no answer")])
        #expect(late.learned(["tcp://r:7710": .nothingListens], at: at(5001)) == [])
    }

    @Test func `looks before it gives up, even if its first turn comes after the connect timeout`() {
        var wait = waiting(timeout: .seconds(3))
        #expect(wait.advance(to: at(3500), gone) == [.look])
        #expect(wait.learned(["tcp://r:7710": .nothingListens], at: at(3501)).count == 1)
        #expect(
            wait.advance(to: at(3501), gone) == [.giveUp(after: .seconds(3), because: "nothing listens there")])
    }

    @Test func `does not give up when it has had contact once`() {
        var wait = waiting(timeout: .seconds(3))
        _ = wait.advance(to: at(10), joined)
        _ = wait.advance(to: at(100), gone)
        #expect(wait.advance(to: at(4000), gone) == [.look])
        #expect(wait.learned(["tcp://r:7710": .nothingListens], at: at(4000)).count == 1)
        #expect(wait.deadline == at(10_100))
    }
}

@Suite(.timeLimit(.minutes(2))) struct `A look at an address` {
    /// A TCP port on loopback that has, or had, a listener.
    private func port(isOpen: Bool) throws -> (port: UInt16, close: () -> Void) {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let bound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, size) == 0 && getsockname(descriptor, $0, &size) == 0
            }
        }
        try #require(bound && (!isOpen || listen(descriptor, 8) == 0))
        return (UInt16(bigEndian: address.sin_port), { Glibc.close(descriptor) })
    }

    @Test func `tells a port without a listener from one with a listener`() throws {
        // Bound and not listening: no other process can have it meanwhile.
        let shut = try port(isOpen: false)
        defer { shut.close() }
        let open = try port(isOpen: true)
        defer { open.close() }
        #expect(
            try AddressLook.obstacle(at: ReducerAddress(parsing: "tcp://127.0.0.1:\(shut.port)")) == .nothingListens)
        #expect(try AddressLook.obstacle(at: ReducerAddress(parsing: "tcp://127.0.0.1:\(open.port)")) == .mute)
    }

    @Test func `names a host that has no address`() {
        guard case .noSuchHost = AddressLook.obstacle(at: "tcp://no.such.host.invalid:7710") else {
            Issue.record("it is \(AddressLook.obstacle(at: "tcp://no.such.host.invalid:7710"))")
            return
        }
    }

    @Test func `sees whether a socket's file has a listener`() throws {
        let address = ipcAddress()
        #expect(AddressLook.obstacle(at: address) == .nothingListens)
        var router = try Socket(.router, in: try ZMQContext())
        try router.bind(address.description)
        #expect(AddressLook.obstacle(at: address) == .unanswered)
    }
}

@Suite(.timeLimit(.minutes(2))) struct `A connect timeout` {
    @Test func `ends a worker without an answer, with the reason`() async throws {
        let address = ipcAddress()
        var configuration = EffectNodeConfiguration(reducer: address, log: .silent)
        configuration.connectTimeout = .milliseconds(200)
        let error = await #expect(throws: NodeError.self) {
            try await EffectNode(Puts(), configuration: configuration).run()
        }
        #expect(
            error?.description
                == "no reducer answered at \(address) within 0.2 seconds: nothing listens there; is it running?")
    }

    @Test func `ends a handle without an answer, whose log says so and what is lost`() async throws {
        let address = ipcAddress()
        let lines = Locked<[String]>([])
        let loop = try RemoteLoop(
            Puts.self, reducer: address, connectTimeout: .milliseconds(200),
            log: .lines { line in lines.withLock { $0.append(line) } })
        try await loop.send(.put(1))
        await #expect(throws: SendRefusal.self) { try await loop.sendAndConfirm(.put(2)) }
        for await _ in loop.states {}
        #expect("\(try #require(loop.failure))".hasPrefix("no reducer answered at \(address) within 0.2 seconds"))
        let said = lines.withLock { $0 }
        #expect(said.count == 3, "\(said)")
        #expect(said.first?.hasPrefix("observer: waiting for a reducer at \(address) for 1") == true)
        #expect(said.contains { $0.contains("1 event was not sent to \(address)") })
        #expect(said.last?.hasPrefix("observer: the connection to \(address) has ended: no reducer answered") == true)
    }
}
