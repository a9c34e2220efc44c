// Unsafe: only the thread uses the monitors until it has ended. After that, their owner's thread uses them.

internal import Glibc
internal import Linux

/// Reads the events of some sockets on a thread of its own, so that no event waits while their owner does other work.
///
/// It belongs to the thread of the sockets. Call ``stop()`` before they close.
package final class SocketWatch {
    /// The descriptors that the thread shares with its watch.
    private final class Signals: Sendable {
        let stop: Descriptor
        let ended: Descriptor

        init() throws(SystemError) {
            stop = try .event()
            ended = try .event()
        }
    }

    private final class Reader {
        var monitor: SocketMonitor

        init(_ monitor: consuming SocketMonitor) { self.monitor = monitor }
    }

    /// The thread uses them. The owner's thread creates and releases them.
    private final class Readers {
        var all: [Reader] = []
    }

    private let readers = Readers()
    private let signals: Signals
    private var isRunning = false

    /// Creates a watch of no socket.
    /// - Throws: ``ZMQError`` if there are too many files.
    package init() throws(ZMQError) {
        do throws(SystemError) {
            signals = try Signals()
        } catch {
            throw ZMQError(.monitor, code: error.code)
        }
    }

    deinit { stop() }

    /// Watches a socket that is not bound yet. Earlier events are not reported.
    /// - Throws: ``ZMQError`` if there are too many sockets or files.
    package func add(_ socket: borrowing Socket) throws(ZMQError) {
        precondition(!isRunning, "a socket is added to a watch that runs")
        readers.all.append(Reader(try SocketMonitor(socket)))
    }

    /// Starts the thread.
    /// - Parameters:
    ///   - name: the name of the thread; only its first 15 bytes count.
    ///   - tell: called on the thread with each event and the number of its socket, from 0 in the order in which they were added.
    ///   - pulse: called on the thread at its start, and again after the number of milliseconds that it last returned. Events do
    ///     not bring it forward, however many there are.
    /// - Throws: ``ZMQError`` if the system has no space for another thread.
    package func start(
        _ name: String, tell: @escaping @Sendable (Int, SocketEvent) -> Void, pulse: @escaping @Sendable () -> Int
    ) throws(ZMQError) {
        nonisolated(unsafe) let readers = readers
        let signals = signals
        do throws(SystemError) {
            try SystemThread.start(name, stackBytes: 1 << 20) {
                // Without libzmq, the watch has nothing to read.
                try? unsafe Self.run(readers, signals, tell, pulse)
                // From here on the thread has no monitor. The last owner of a monitor uses its socket.
                signals.ended.signal()
            }
        } catch {
            throw ZMQError(.monitor, code: error.code)
        }
        isRunning = true
    }

    private static func run(
        _ readers: Readers, _ signals: Signals, _ tell: (Int, SocketEvent) -> Void, _ pulse: () -> Int
    ) throws(ZMQError) {
        var polls = PollSet()
        let stop = polls.add(descriptor: signals.stop.number)
        for reader in readers.all { polls.add(reader.monitor) }
        var pulseAt = milliseconds + pulse()
        while true {
            try polls.wait(milliseconds: max(0, pulseAt - milliseconds))
            if polls.isReadable(stop) { return }
            for (number, reader) in readers.all.enumerated() {
                // The number is limited, because without free descriptors in the system there is always one more event.
                for _ in 0..<1000 {
                    guard let event = try reader.monitor.next() else { break }
                    tell(number, event)
                }
            }
            if milliseconds >= pulseAt { pulseAt = milliseconds + pulse() }
        }
    }

    /// The time of the steady clock.
    private static var milliseconds: Int {
        let time = System.bootTime
        return Int(time.seconds) * 1000 + Int(time.nanoseconds) / 1_000_000
    }

    /// Ends the thread, and waits until it has ended. That takes up to one call of `tell` or `pulse`. May be called again.
    package func stop() {
        guard isRunning else { return }
        isRunning = false
        signals.stop.signal()
        var items = [Poll.item(signals.ended.number, POLLIN)]
        while Poll.wait(&items) == nil {}
        readers.all = []
    }
}
