import CBOR
import LoopCore
import LoopLock
import LoopNode
import LoopWire
import TestFolders
import ZMQ

/// A ROUTER socket that says to operators what a test wants.
final class FakeReducer: Sendable {
    /// What is said to a request, by its number.
    typealias Script = @Sendable (AdministrationRequest, UInt64) throws -> [ToPeer]

    let address = ipcAddress()
    /// What was asked, in order.
    let asked = Locked<[AdministrationRequest]>([])
    private let mailbox: Mailbox<Void>

    /// - Parameter status: what it reports about itself.
    init(status: StatusReport = StatusReport(loop: "fake", schema: 1), _ script: @escaping Script) throws {
        let mailbox = try Mailbox<Void>()
        self.mailbox = mailbox
        let (address, asked) = (address, asked)
        _ = try NodeThread("fake-reducer") {
            try? Self.serve(address, until: mailbox, status, script) { request in asked.withLock { $0.append(request) }
            }
        }
    }

    /// One that answers each request whole.
    convenience init(
        status: StatusReport = StatusReport(loop: "fake", schema: 1),
        answering answer: @escaping @Sendable (AdministrationRequest) -> AdministrationAnswer
    ) throws {
        try self.init(status: status) { request, number in
            AnswerPart.parts(of: try CBOR.encode(answer(request)), request: number).map { .answer($0) }
        }
    }

    deinit { mailbox.post(()) }

    private static func serve(
        _ address: ReducerAddress, until mailbox: Mailbox<Void>, _ status: StatusReport, _ script: Script,
        heard: (AdministrationRequest) -> Void
    ) throws {
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
                for frame in try replies(to: message.copy(), status, script, heard) {
                    _ = try router.send(frame.bytes(topic: nil), to: sender)
                }
            }
        }
    }

    private static func replies(
        to bytes: [UInt8], _ status: StatusReport, _ script: Script, _ heard: (AdministrationRequest) -> Void
    ) throws -> [PeerFrame] {
        let said: [ToPeer]
        switch try ToReducer(bytes: bytes[...], loop: LoopID(value: 7)) {
        case .statusRequest: said = [.status(try CBOR.encode(status))]
        case .administration(let number, let document):
            let request = try CBOR.decode(AdministrationRequest.self, from: Array(document))
            heard(request)
            said = try script(request, number)
        default: said = []
        }
        return said.map { PeerFrame(history: .none, epoch: .none, session: .none, message: $0) }
    }
}
