import Linux
import LoopCollections
import LoopNode

/// Relays TCP between peers and the reducer, and delays, stalls or cuts it on request.
///
/// It has one thread with one poll. A link is one peer's connection to the reducer: it has its own address, the reducer's
/// three ports, and its own faults. Received bytes are queued until they may leave, so that they stay in order.
final class FaultProxy: Sendable {
    /// The link of one peer.
    struct Link: Sendable {
        let target: Target
        let listen: SocketAddress
        let upstream: SocketAddress
    }

    /// How often faults took effect: bytes were delayed, a message was cut.
    struct Counts: Equatable, Sendable {
        var connections = 0
        var delays = 0
        var stalls = 0
        var cuts = 0
        var bytes = 0
    }

    enum Order: Sendable {
        case begin(Target, Fault.Trouble)
        case end(Target, Fault.Trouble)
        case stop
    }

    /// The port of each link, in the order of the links: its own, or a free one.
    let ports: [UInt16]
    private let mailbox: Mailbox<Order>
    private let thread: NodeThread
    /// Counts that the proxy's thread writes and others read.
    private let counting: Locked<Counts>

    /// Starts to listen on all links, and then returns.
    /// - Parameter space: the network in which it listens and connects.
    /// - Throws: `SystemError` that names the address that is not available.
    init(links: [Link], in space: NetworkSpace = .own) async throws {
        let mailbox = try Mailbox<Order>()
        let counting = Locked(Counts())
        self.mailbox = mailbox
        self.counting = counting
        let listeners = try await space.run("proxy-listen") {
            try links.map { (target: $0.target, upstream: $0.upstream, descriptor: try $0.listen.listen()) }
        }
        ports = listeners.map { Sockets.port(of: $0.descriptor) }
        thread = try NodeThread("chaos-proxy") {
            // Listening succeeded, so the namespace exists.
            try? space.enter()
            var connections = ProxyConnections(listeners: listeners, mailbox: mailbox, counting: counting)
            connections.run()
        }
    }

    var counts: Counts { counting.withLock { $0 } }

    /// Begins a fault on a peer's link.
    func begin(_ trouble: Fault.Trouble, at target: Target) { mailbox.post(.begin(target, trouble)) }

    /// Ends a fault.
    func end(_ trouble: Fault.Trouble, at target: Target) { mailbox.post(.end(target, trouble)) }

    /// Closes everything.
    func stop() async {
        mailbox.post(.stop)
        await thread.join()
    }
}
