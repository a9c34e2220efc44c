import Glibc
import LoopCore
import LoopNode

/// Carries TCP between peers and the reducer, and delays, stalls or cuts it on request.
///
/// One thread, one poll. A link is one peer's way to the reducer: it has its own address, the reducer's three ports, and
/// its own faults. What arrives waits in a queue until it may leave, so that bytes stay in order whatever happens.
final class FaultProxy: Sendable {
    /// One peer's way.
    struct Link: Sendable {
        let target: Target
        let listen: SocketAddress
        let upstream: SocketAddress
    }

    /// How often something really happened: bytes were held up, a message was cut.
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

    /// Where each link listens, in the order of the links: their own ports, or those that were free.
    let ports: [UInt16]
    private let mailbox: Mailbox<Order>
    private let thread: NodeThread
    private let counting: ProxyCounting

    /// Listens on all links, and returns then.
    /// - Parameter space: the network in which it listens and connects.
    /// - Throws: `SystemError` that names the address that cannot be had.
    init(links: [Link], in space: NetworkSpace = .own) async throws {
        let mailbox = try Mailbox<Order>()
        let counting = ProxyCounting()
        self.mailbox = mailbox
        self.counting = counting
        let listeners = try await space.run("proxy-listen") {
            try links.map { (target: $0.target, upstream: $0.upstream, descriptor: try $0.listen.listen()) }
        }
        ports = listeners.map { SocketAddress.port(of: $0.descriptor) }
        thread = try NodeThread("chaos-proxy") {
            // Listening succeeded, so the namespace is there.
            try? space.enter()
            var connections = ProxyConnections(listeners: listeners, mailbox: mailbox, counting: counting)
            connections.run()
        }
    }

    var counts: Counts { counting.counts }

    /// Begins a fault on a peer's way.
    func begin(_ trouble: Fault.Trouble, at target: Target) { mailbox.post(.begin(target, trouble)) }

    /// Ends it.
    func end(_ trouble: Fault.Trouble, at target: Target) { mailbox.post(.end(target, trouble)) }

    /// Closes everything.
    func stop() async {
        mailbox.post(.stop)
        await thread.join()
    }
}
