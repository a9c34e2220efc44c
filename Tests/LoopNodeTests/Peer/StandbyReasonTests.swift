import CBOR
import LoopCore
import LoopWire
import TestFolders
import Testing
import ZMQ

@testable import LoopNode

/// A ROUTER that answers as a standby whose database refuses its password, or with another message.
private final class FakeStandby: Sendable {
    let address = ipcAddress()
    private let mailbox: Mailbox<Void>

    static var report: StatusReport {
        var report = StatusReport(loop: "fake", schema: 1)
        report.role = StatusReport.standbyRole
        report.notReadyBecause = "it is a standby, and the database refuses the role"
        report.journalFault = JournalFault(.auth)
        return report
    }

    init(_ answer: ToPeer? = nil) throws {
        let mailbox = try Mailbox<Void>()
        self.mailbox = mailbox
        _ = try NodeThread("fake-standby") { [address] in
            try? Self.serve(address, answer, until: mailbox)
        }
    }

    deinit { mailbox.post(()) }

    private static func serve(_ address: ReducerAddress, _ answer: ToPeer?, until mailbox: Mailbox<Void>) throws {
        var router = try Socket(.router, in: try ZMQContext())
        try router.bind(address.description)
        var polls = PollSet()
        polls.add(router)
        let over = polls.add(descriptor: mailbox.descriptor)
        var sender = RoutingID()
        var message = Message()
        while true {
            try polls.wait(milliseconds: nil)
            if polls.isReadable(over) { return }
            while try router.receive(from: &sender, into: &message) {
                let request = try ToReducer(bytes: message.copy()[...], loop: LoopID(value: 7))
                let standbys: ToPeer =
                    if case .statusRequest = request {
                        .status(try CBOR.encode(report))
                    } else {
                        .noLeader(retryAfter: .milliseconds(100))
                    }
                let frame = PeerFrame(history: .none, epoch: .none, session: .none, message: answer ?? standbys)
                _ = try router.send(frame.bytes(topic: nil), to: sender)
            }
        }
    }
}

@Suite(.timeLimit(.minutes(2))) struct `A standby that cannot lead` {
    private let reason = "it is a standby, and the database refuses the role (auth)"

    @Test func `is asked why by what looks for a reducer`() throws {
        let standby = try FakeStandby()
        // It listens from its first answer on, at the latest.
        _ = try StatusProbe.ask(standby.address, within: .seconds(20))
        #expect(AddressLook.obstacle(at: standby.address) == .standby(of: "", because: reason))
    }

    @Test func `is quoted if it refuses to answer`() throws {
        let refused = Refused(.protocolVersion, reducer: "9", peer: "8")
        let standby = try FakeStandby(.refused(refused, to: .hello))
        #expect(throws: NodeError.self) { try StatusProbe.ask(standby.address, within: .seconds(20)) }
        #expect(AddressLook.obstacle(at: standby.address) == .refused(refused.description))
    }

    @Test func `gives its reason to an operator's question`() throws {
        let one = try FakeStandby()
        let two = try FakeStandby()
        let both = try ReducerAddress(parsing: "\(one.address),\(two.address)")
        for address in [one.address, both] {
            var call = try AdministrationCall(reducer: address)
            let error = #expect(throws: (any Error).self) { try call.ask(.parked, within: .seconds(5)) }
            #expect(error.map { "\($0)" }?.contains(reason) == true, "\(String(describing: error))")
        }
    }
}
