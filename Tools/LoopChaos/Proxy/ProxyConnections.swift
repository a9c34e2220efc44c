import Glibc
import Linux
import LoopCollections
import LoopCore
import LoopNode

/// The proxy's thread: it accepts, reads, delays and writes.
struct ProxyConnections: ~Copyable {
    /// One direction of a connection, and the bytes in it.
    private struct Way {
        let source: Int32
        let sink: Int32
        var pipe = ProxyPipe()
        /// Whether the end was passed on.
        var isShut = false
    }

    /// One connection.
    private struct Relay {
        let link: Int
        /// The way from the peer to the reducer, and the way back.
        var ways: [Way]
        var isOver = false

        init(link: Int, peer: Int32, reducer: Int32) {
            self.link = link
            ways = [Way(source: peer, sink: reducer), Way(source: reducer, sink: peer)]
        }

        func close() { for way in ways { Glibc.close(way.source) } }
    }

    /// The present faults of one link.
    private struct Faults {
        var delay = Duration.zero
        /// Whether nothing moves on each way of a relay.
        var stalled = [false, false]
        var cutsWanted = 0
        /// Whether the fault took effect, and thus was counted.
        var delayWasFelt = true
        var stallWasFelt = true
    }

    private let listeners: [(target: Target, upstream: SocketAddress, descriptor: Int32)]
    private let mailbox: Mailbox<FaultProxy.Order>
    private let counting: Locked<FaultProxy.Counts>
    private var faults: [Target: Faults] = [:]
    private var relays: [Relay] = []
    private var orders: [FaultProxy.Order] = []
    private var buffer = [UInt8](repeating: 0, count: 64 << 10)

    init(
        listeners: [(target: Target, upstream: SocketAddress, descriptor: Int32)],
        mailbox: Mailbox<FaultProxy.Order>, counting: Locked<FaultProxy.Counts>
    ) {
        self.listeners = listeners
        self.mailbox = mailbox
        self.counting = counting
    }

    deinit {
        for listener in listeners { close(listener.descriptor) }
        for relay in relays { relay.close() }
    }

    /// Relays bytes until it is stopped.
    mutating func run() {
        while true {
            var items = [Poll.item(mailbox.descriptor, POLLIN)]
            items += listeners.map { Poll.item($0.descriptor, POLLIN) }
            let now = SystemClock.monotonic
            var deadline: MonotonicTime?
            for relay in relays {
                for way in 0...1 {
                    items.append(Poll.item(relay.ways[way].source, events(relay, way, at: now, &deadline)))
                }
            }
            Poll.wait(&items, milliseconds: deadline.map { Int32(SystemClock.milliseconds(from: now, until: $0)) })
            guard takeOrders() else { return }
            carry(items)
            acceptAll(items)
        }
    }

    /// - Returns: false if it was stopped.
    private mutating func takeOrders() -> Bool {
        mailbox.takeAll(into: &orders)
        for order in orders {
            switch order {
            case .stop: return false
            case .begin(let target, let trouble): set(trouble, at: target, isOn: true)
            case .end(let target, let trouble): set(trouble, at: target, isOn: false)
            }
        }
        return true
    }

    private mutating func set(_ trouble: Fault.Trouble, at target: Target, isOn: Bool) {
        var now = faults[target] ?? Faults()
        switch trouble {
        case .delay(let delay):
            now.delay = isOn ? delay : .zero
            now.delayWasFelt = !isOn
        case .stall(let direction):
            now.stalled = [isOn && direction != .toPeer, isOn && direction != .toReducer]
            now.stallWasFelt = !isOn
        case .cut: if isOn { now.cutsWanted += 1 }
        default: break
        }
        faults[target] = now
    }

    private func fault(_ relay: Relay) -> Faults { faults[listeners[relay.link].target] ?? Faults() }

    /// The poll events of a way's source, to which the other way leads. The deadline is lowered to the time of its next bytes.
    private func events(_ relay: Relay, _ way: Int, at now: MonotonicTime, _ deadline: inout MonotonicTime?) -> Int32 {
        var events = relay.ways[way].pipe.hasSpace ? POLLIN : 0
        if !fault(relay).stalled[1 - way], let at = relay.ways[1 - way].pipe.nextAt {
            if at <= now { events |= POLLOUT } else { deadline = min(deadline ?? at, at) }
        }
        return events
    }

    private mutating func carry(_ items: [pollfd]) {
        let now = SystemClock.monotonic
        let first = 1 + listeners.count
        for index in relays.indices {
            for way in 0...1 {
                let revents = Int32(items[first + 2 * index + way].revents)
                if revents & (POLLIN | POLLHUP | POLLERR) != 0 { read(index, way, revents: revents, at: now) }
            }
            for way in 0...1 { write(index, way, at: now) }
        }
        for relay in relays where relay.isOver { relay.close() }
        relays.removeAll { $0.isOver }
    }

    private mutating func acceptAll(_ items: [pollfd]) {
        for (index, listener) in listeners.enumerated() where items[1 + index].revents != 0 {
            while let peer = SocketAddress.accept(listener.descriptor) {
                guard let reducer = try? listener.upstream.connect() else {
                    close(peer)
                    continue
                }
                counting.withLock { $0.connections += 1 }
                relays.append(Relay(link: index, peer: peer, reducer: reducer))
            }
        }
    }

    private mutating func read(_ index: Int, _ way: Int, revents: Int32, at now: MonotonicTime) {
        let relay = relays[index]
        guard !relay.isOver else { return }
        guard relay.ways[way].pipe.hasSpace else {
            // Both ends are closed.
            if revents & (POLLHUP | POLLERR) != 0 { relays[index].isOver = true }
            return
        }
        let count: Int
        do {
            count = try SystemCall.read(from: relay.ways[way].source, into: &buffer)
        } catch {
            // A connection that was broken or refused ends on both sides.
            if error.code != EAGAIN { relays[index].isOver = true }
            return
        }
        if count == 0 { return relays[index].ways[way].pipe.end() }
        let fault = fault(relay)
        relays[index].ways[way].pipe.take(ArraySlice(Array(buffer[..<count])), at: now, delay: fault.delay)
        counting.withLock { $0.bytes += count }
        noticeFelt(relay, fault, way)
    }

    /// Counts a fault once it has delayed bytes.
    private mutating func noticeFelt(_ relay: Relay, _ fault: Faults, _ way: Int) {
        let target = listeners[relay.link].target
        if fault.delay > .zero, !fault.delayWasFelt {
            faults[target]?.delayWasFelt = true
            counting.withLock { $0.delays += 1 }
        }
        if fault.stalled[way], !fault.stallWasFelt {
            faults[target]?.stallWasFelt = true
            counting.withLock { $0.stalls += 1 }
        }
    }

    private mutating func write(_ index: Int, _ way: Int, at now: MonotonicTime) {
        let relay = relays[index]
        let fault = fault(relay)
        guard !relay.isOver, !fault.stalled[way] else { return }
        while let bytes = relays[index].ways[way].pipe.due(at: now) {
            let isCut = fault.cutsWanted > 0 && bytes.count >= 2
            let piece = isCut ? bytes.prefix(bytes.count / 2) : bytes
            let count: Int
            do {
                count = try SystemCall.send(piece, to: relay.ways[way].sink)
            } catch {
                if ![EAGAIN, EINTR, ENOTCONN].contains(error.code) { relays[index].isOver = true }
                return
            }
            if isCut { return cut(index) }
            relays[index].ways[way].pipe.sent(count)
        }
        passEndOn(index)
    }

    /// Cuts a connection after half of the due bytes have left. Both sides see its end.
    private mutating func cut(_ index: Int) {
        faults[listeners[relays[index].link].target]?.cutsWanted -= 1
        counting.withLock { $0.cuts += 1 }
        relays[index].isOver = true
    }

    private mutating func passEndOn(_ index: Int) {
        for way in 0...1 where relays[index].ways[way].pipe.isDone && !relays[index].ways[way].isShut {
            relays[index].ways[way].isShut = true
            shutdown(relays[index].ways[way].sink, Int32(SHUT_WR))
        }
        if relays[index].ways.allSatisfy(\.isShut) { relays[index].isOver = true }
    }
}
