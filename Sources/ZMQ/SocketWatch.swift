// Unsafe: the monitors are used by the thread alone until it has ended, and by their owner's thread after it.

internal import Glibc
internal import Linux

/// Reads what happens to the connections of some sockets, on a thread of its own: no event waits for what else their owner does.
///
/// It belongs to the thread of the sockets. ``stop()`` it before they close.
public final class SocketWatch {
    /// What the thread shares with its watch.
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

    /// The thread uses them, and their owner's thread makes them and lets them go.
    private final class Readers {
        var all: [Reader] = []
    }

    private let readers = Readers()
    private let signals: Signals
    private var isRunning = false

    /// A watch of no socket.
    /// - Throws: ``ZMQError`` if there are too many files.
    public init() throws(ZMQError) {
        do throws(SystemError) {
            signals = try Signals()
        } catch {
            throw ZMQError(.monitor, code: error.code)
        }
    }

    deinit { stop() }

    /// Watches a socket that is not bound yet. What was before is not told.
    /// - Throws: ``ZMQError`` if there are too many sockets or files.
    public func add(_ socket: borrowing Socket) throws(ZMQError) {
        precondition(!isRunning, "a socket is added to a watch that runs")
        readers.all.append(Reader(try SocketMonitor(socket)))
    }

    /// Starts the thread.
    /// - Parameters:
    ///   - name: of the thread; 15 bytes of it.
    ///   - tell: told each event on the thread, with the number of its socket, from 0 in the order in which they were added.
    ///   - pulse: called on the thread at its start, and when the time is over that it returned last, in milliseconds. Events do not
    ///     bring it forward, however many there are.
    /// - Throws: ``ZMQError`` if the system has no space for another thread.
    public func start(
        _ name: String, tell: @escaping @Sendable (Int, SocketEvent) -> Void, pulse: @escaping @Sendable () -> Int
    ) throws(ZMQError) {
        nonisolated(unsafe) let readers = readers
        let signals = signals
        do throws(SystemError) {
            try SystemThread.start(name, stackBytes: 1 << 20) {
                // A failure is the end of the context, and of the sockets.
                try? unsafe Self.run(readers, signals, tell, pulse)
                // From here on the thread has no monitor: the last owner of one speaks to its socket.
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
                // Not without end: where the system has no descriptors left, there is always one more.
                for _ in 0..<1000 {
                    guard let event = try reader.monitor.next() else { break }
                    tell(number, event)
                }
            }
            if milliseconds >= pulseAt { pulseAt = milliseconds + pulse() }
        }
    }

    /// The steady clock.
    private static var milliseconds: Int {
        let time = System.bootTime
        return Int(time.seconds) * 1000 + Int(time.nanoseconds) / 1_000_000
    }

    /// Ends the thread, and waits for its end: up to one call of `tell` or `pulse`. May be called again.
    public func stop() {
        guard isRunning else { return }
        isRunning = false
        signals.stop.signal()
        var items = [Poll.item(signals.ended.number, POLLIN)]
        while Poll.wait(&items) == nil {}
        readers.all = []
    }
}
