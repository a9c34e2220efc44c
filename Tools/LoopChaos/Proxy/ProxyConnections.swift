import Glibc
import Linux
import LoopCore
import LoopNode

/// The proxy's thread: it accepts, reads, delays and writes.
struct ProxyConnections: ~Copyable {
    /// One connection: the peer's socket, the reducer's, and the bytes between them.
    private struct Relay {
        let link: Int
        let peer: Int32
        let reducer: Int32
        var toReducer = ProxyPipe()
        var toPeer = ProxyPipe()
        /// The directions in which the end was passed on.
        var isShutToReducer = false
        var isShutToPeer = false
        var isOver = false
    }

    /// The present faults of one link.
    private struct Faults {
        var delay = Duration.zero
        var stalledToReducer = false
        var stalledToPeer = false
        var cutsWanted = 0
        /// Whether the fault took effect, and thus was counted.
        var delayWasFelt = true
        var stallWasFelt = true
    }

    private let listeners: [(target: Target, upstream: SocketAddress, descriptor: Int32)]
    private let mailbox: Mailbox<FaultProxy.Order>
    private let counting: ProxyCounting
    private var faults: [Target: Faults] = [:]
    private var relays: [Relay] = []
    private var orders: [FaultProxy.Order] = []
    private var buffer = [UInt8](repeating: 0, count: 64 << 10)

    init(
        listeners: [(target: Target, upstream: SocketAddress, descriptor: Int32)],
        mailbox: Mailbox<FaultProxy.Order>, counting: ProxyCounting
    ) {
        self.listeners = listeners
        self.mailbox = mailbox
        self.counting = counting
    }

    deinit {
        for listener in listeners { close(listener.descriptor) }
        for relay in relays {
            close(relay.peer)
            close(relay.reducer)
        }
    }

    /// Relays bytes until it is stopped.
    mutating func run() {
        while true {
            var items = [Poll.item(mailbox.descriptor, POLLIN)]
            items += listeners.map { Poll.item($0.descriptor, POLLIN) }
            let now = SystemClock.monotonic
            var deadline: MonotonicTime?
            for relay in relays {
                items.append(Poll.item(relay.peer, events(relay, ofPeer: true, at: now, &deadline)))
                items.append(Poll.item(relay.reducer, events(relay, ofPeer: false, at: now, &deadline)))
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
            now.stalledToReducer = isOn && direction != .toPeer
            now.stalledToPeer = isOn && direction != .toReducer
            now.stallWasFelt = !isOn
        case .cut: if isOn { now.cutsWanted += 1 }
        default: break
        }
        faults[target] = now
    }

    private func fault(_ relay: Relay) -> Faults { faults[listeners[relay.link].target] ?? Faults() }

    /// The poll events of one side. The deadline is lowered to the time of its next bytes.
    private func events(
        _ relay: Relay, ofPeer: Bool, at now: MonotonicTime, _ deadline: inout MonotonicTime?
    ) -> Int32 {
        let (from, to) = ofPeer ? (relay.toReducer, relay.toPeer) : (relay.toPeer, relay.toReducer)
        let fault = fault(relay)
        var events = from.hasSpace ? POLLIN : 0
        let isStalled = ofPeer ? fault.stalledToPeer : fault.stalledToReducer
        if !isStalled, let at = to.nextAt {
            if at <= now { events |= POLLOUT } else { deadline = min(deadline ?? at, at) }
        }
        return events
    }

    private mutating func carry(_ items: [pollfd]) {
        let now = SystemClock.monotonic
        let first = 1 + listeners.count
        for index in relays.indices {
            let peer = Int32(items[first + 2 * index].revents)
            let reducer = Int32(items[first + 2 * index + 1].revents)
            let ended = Int32(POLLIN) | Int32(POLLHUP) | Int32(POLLERR)
            if peer & ended != 0 { read(index, fromPeer: true, revents: peer, at: now) }
            if reducer & ended != 0 { read(index, fromPeer: false, revents: reducer, at: now) }
            write(index, toPeer: false, at: now)
            write(index, toPeer: true, at: now)
        }
        for relay in relays where relay.isOver {
            close(relay.peer)
            close(relay.reducer)
        }
        relays.removeAll { $0.isOver }
    }

    private mutating func acceptAll(_ items: [pollfd]) {
        for (index, listener) in listeners.enumerated() where items[1 + index].revents != 0 {
            while let peer = SocketAddress.accept(listener.descriptor) {
                guard let reducer = try? listener.upstream.connect() else {
                    close(peer)
                    continue
                }
                counting.add(\.connections)
                relays.append(Relay(link: index, peer: peer, reducer: reducer))
            }
        }
    }

    private mutating func read(_ index: Int, fromPeer: Bool, revents: Int32, at now: MonotonicTime) {
        let relay = relays[index]
        guard !relay.isOver else { return }
        guard (fromPeer ? relay.toReducer : relay.toPeer).hasSpace else {
            // Both ends are closed.
            if revents & (Int32(POLLHUP) | Int32(POLLERR)) != 0 { relays[index].isOver = true }
            return
        }
        let count: Int
        do {
            count = try SystemCall.read(from: fromPeer ? relay.peer : relay.reducer, into: &buffer)
        } catch {
            // A connection that was broken or refused ends on both sides.
            if error.code != EAGAIN { relays[index].isOver = true }
            return
        }
        if count == 0 {
            if fromPeer { relays[index].toReducer.end() } else { relays[index].toPeer.end() }
            return
        }
        let fault = fault(relay)
        let bytes = buffer[..<count]
        if fromPeer {
            relays[index].toReducer.take(ArraySlice(Array(bytes)), at: now, delay: fault.delay)
        } else {
            relays[index].toPeer.take(ArraySlice(Array(bytes)), at: now, delay: fault.delay)
        }
        counting.add(\.bytes, count)
        noticeFelt(relay, fault, fromPeer: fromPeer)
    }

    /// Counts a fault once it has delayed bytes.
    private mutating func noticeFelt(_ relay: Relay, _ fault: Faults, fromPeer: Bool) {
        let target = listeners[relay.link].target
        if fault.delay > .zero, !fault.delayWasFelt {
            faults[target]?.delayWasFelt = true
            counting.add(\.delays)
        }
        if fromPeer ? fault.stalledToReducer : fault.stalledToPeer, !fault.stallWasFelt {
            faults[target]?.stallWasFelt = true
            counting.add(\.stalls)
        }
    }

    private mutating func write(_ index: Int, toPeer: Bool, at now: MonotonicTime) {
        let relay = relays[index]
        let fault = fault(relay)
        guard !relay.isOver, !(toPeer ? fault.stalledToPeer : fault.stalledToReducer) else { return }
        let sink = toPeer ? relay.peer : relay.reducer
        while let bytes = (toPeer ? relays[index].toPeer : relays[index].toReducer).due(at: now) {
            let isCut = fault.cutsWanted > 0 && bytes.count >= 2
            let piece = isCut ? bytes.prefix(bytes.count / 2) : bytes
            let count: Int
            do {
                count = try SystemCall.send(piece, to: sink)
            } catch {
                if ![EAGAIN, EINTR, ENOTCONN].contains(error.code) { relays[index].isOver = true }
                return
            }
            if isCut { return cut(index) }
            if toPeer { relays[index].toPeer.sent(count) } else { relays[index].toReducer.sent(count) }
        }
        passEndOn(index)
    }

    /// Cuts a connection after half of the due bytes have left. Both sides see its end.
    private mutating func cut(_ index: Int) {
        faults[listeners[relays[index].link].target]?.cutsWanted -= 1
        counting.add(\.cuts)
        relays[index].isOver = true
    }

    private mutating func passEndOn(_ index: Int) {
        if relays[index].toReducer.isDone, !relays[index].isShutToReducer {
            relays[index].isShutToReducer = true
            shutdown(relays[index].reducer, Int32(SHUT_WR))
        }
        if relays[index].toPeer.isDone, !relays[index].isShutToPeer {
            relays[index].isShutToPeer = true
            shutdown(relays[index].peer, Int32(SHUT_WR))
        }
        if relays[index].isShutToReducer && relays[index].isShutToPeer { relays[index].isOver = true }
    }
}
