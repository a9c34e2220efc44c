public import Linux

/// Signals as something to read in a poll set, instead of handlers that interrupt whatever runs.
///
/// Create it first thing in main: the signals are blocked in the calling thread, and threads inherit that from the one
/// that starts them. A thread that was there before may still take a signal in the old way.
public final class SignalWatch: Sendable {
    /// What asks a program to end.
    public enum Signal: Int32, Sendable, CaseIterable {
        /// From a service manager, from `kill`.
        case terminate = 15
        /// Ctrl-C.
        case interrupt = 2
        /// The terminal is gone.
        case hangUp = 1
    }

    private enum Source: ~Copyable, Sendable {
        case queue(SignalQueue)
        case pipe(SignalPipe)
    }

    private let source: Source

    /// Readable while a signal has not been taken. Valid as long as this object; the signals stay blocked.
    public var descriptor: Int32 {
        switch source {
        case .queue(let queue): queue.descriptor.number
        case .pipe(let pipe): pipe.descriptor
        }
    }

    /// - Throws: when there are no descriptors left.
    public init(_ signals: [Signal] = Signal.allCases) throws(SystemError) {
        source = .queue(try SignalQueue(signals.map(\.rawValue)))
    }

    /// Watches for the whole process, by handlers, whichever thread takes a signal: for a program with an asynchronous
    /// `main`, whose main thread waits in libdispatch and lets every signal through. Once in a process. A SIGHUP that was ignored when the
    /// process began (`nohup`) stays ignored.
    ///
    /// - Throws: when there are no descriptors left.
    public static func ofProcess() throws(SystemError) -> SignalWatch {
        try SignalWatch(process: Signal.allCases)
    }

    /// From now on a write to a pipe without a reader fails, and does not end this process: for programs that go on
    /// without their readers. The programs that they start have the signal as usual.
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
