internal import CBOR
package import LoopCollections
internal import LoopCore
package import LoopNode
package import LoopWire
internal import ZMQ

/// A ROUTER socket that replies to operators as a test wants.
package final class FakeReducer: Sendable {
    /// The replies to a request, by its number.
    package typealias Script = @Sendable (AdministrationRequest, UInt64) throws -> [ToPeer]

    package let address = ipcAddress()
    /// What was asked, in order.
    package let asked = Locked<[AdministrationRequest]>([])
    private let mailbox: Mailbox<Void>

    /// Creates one, and returns when it listens.
    /// - Parameters:
    ///   - status: what it reports about itself.
    ///   - epoch: the epoch of its replies.
    ///   - refusal: the reply in place of a report, or nil if it reports.
    package init(
        status: StatusReport = StatusReport(loop: "fake", schema: 1), epoch: Epoch = .none,
        refusing refusal: ToPeer? = nil, _ script: @escaping Script
    ) throws {
        let report = try refusal ?? .status(CBOR.encode(status))
        let mailbox = try Mailbox<Void>()
        self.mailbox = mailbox
        let (address, asked) = (address, asked)
        let (isOpen, failure) = (Monitor(false), Locked<(any Error)?>(nil))
        _ = try NodeThread("fake-reducer") {
            func open() {
                isOpen.withLock { $0 = true }
                isOpen.broadcast()
            }
            do {
                try Self.serve(address, until: mailbox, report, epoch, script, whenBound: open) { request in
                    asked.withLock { $0.append(request) }
                }
            } catch {
                failure.withLock { $0 = error }
                open()
            }
        }
        isOpen.wait(until: { $0 })
        if let error = failure.withLock({ $0 }) { throw error }
    }

    /// Creates one that answers each request whole.
    package convenience init(
        status: StatusReport = StatusReport(loop: "fake", schema: 1),
        answering answer: @escaping @Sendable (AdministrationRequest) -> AdministrationAnswer
    ) throws {
        try self.init(status: status) { request, number in
            AnswerPart.parts(of: try CBOR.encode(answer(request)), request: number).map { .answer($0) }
        }
    }

    deinit { mailbox.post(()) }

    private static func serve(
        _ address: ReducerAddress, until mailbox: Mailbox<Void>, _ report: ToPeer, _ epoch: Epoch,
        _ script: Script, whenBound: () -> Void, heard: (AdministrationRequest) -> Void
    ) throws {
        var router = try Socket(.router, in: try ZMQContext())
        try router.bind(address.description)
        whenBound()
        var polls = PollSet()
        polls.add(router)
        let over = polls.add(descriptor: mailbox.descriptor)
        var sender = RoutingID()
        var message = Message()
        while true {
            try polls.wait(milliseconds: nil)
            if polls.isReadable(over) { return }
            while try router.receive(from: &sender, into: &message) {
                for said in try replies(to: message.copy(), report, script, heard) {
                    let frame = PeerFrame(history: .none, epoch: epoch, session: .none, message: said)
                    _ = try router.send(frame.bytes(topic: nil), to: sender)
                }
            }
        }
    }

    private static func replies(
        to bytes: [UInt8], _ report: ToPeer, _ script: Script, _ heard: (AdministrationRequest) -> Void
    ) throws -> [ToPeer] {
        switch try ToReducer(bytes: bytes[...], loop: LoopID(value: 7)) {
        case .statusRequest: return [report]
        case .administration(let number, let document):
            let request = try CBOR.decode(AdministrationRequest.self, from: Array(document))
            heard(request)
            return try script(request, number)
        default: return []
        }
    }
}
