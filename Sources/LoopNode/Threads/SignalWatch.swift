public import Linux

/// Signals as readable events in a poll set, instead of handlers that interrupt running code.
///
/// Create it first in main: the signals are blocked in the calling thread, and a thread inherits that from the one that starts
/// it. An earlier thread may still take a signal in the default way.
public final class SignalWatch: Sendable {
    /// A signal that asks a program to end.
    public enum Signal: Int32, Sendable, CaseIterable {
        /// From a service manager or `kill`.
        case terminate = 15
        /// Ctrl-C.
        case interrupt = 2
        /// The terminal has gone.
        case hangUp = 1
    }

    private enum Source: ~Copyable, Sendable {
        case queue(SignalQueue)
        case pipe(SignalPipe)
    }

    private let source: Source

    /// Becomes readable when a signal is pending. It is valid as long as this object; the signals stay blocked after that.
    public var descriptor: Int32 {
        switch source {
        case .queue(let queue): queue.descriptor.number
        case .pipe(let pipe): pipe.descriptor
        }
    }

    /// - Throws: if no descriptors are free.
    public init(_ signals: [Signal] = Signal.allCases) throws(SystemError) {
        source = .queue(try SignalQueue(signals.map(\.rawValue)))
    }

    /// Watches for the whole process, by handlers, whichever thread takes a signal. This is for a program with an asynchronous
    /// `main`, whose main thread waits in libdispatch with no signal blocked. Call it once in a process. A SIGHUP that was
    /// ignored when the process began (`nohup`) stays ignored.
    ///
    /// - Throws: if no descriptors are free.
    public static func ofProcess() throws(SystemError) -> SignalWatch {
        try SignalWatch(process: Signal.allCases)
    }

    /// Makes a write to a pipe without a reader fail instead of ending this process, for programs that continue without their
    /// readers. Programs that they start have the signal as usual.
    public static func ignoreBrokenPipes() { Signals.ignoreBrokenPipes() }

    private init(process signals: [Signal]) throws(SystemError) {
        source = .pipe(try SignalPipe(signals.map(\.rawValue), restores: false))
    }

    /// The next signal that has come, or nil. Never waits.
    public func next() -> Signal? {
        switch source {
        case .queue(let queue): queue.next().flatMap(Signal.init)
        case .pipe(let pipe): pipe.next().flatMap(Signal.init)
        }
    }
}
