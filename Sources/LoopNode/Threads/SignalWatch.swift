public import Linux

/// Signals as readable events in a poll set, instead of handlers that interrupt running code.
///
/// It watches the whole process, whichever thread takes a signal. A process has one at a time.
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

    private let pipe: SignalPipe

    /// Becomes readable when a signal is pending. It is valid as long as this object; the signals do not end the process after that.
    public var descriptor: Int32 { pipe.descriptor }

    /// Watches all signals that ask a program to end. Call it once in a process. A SIGHUP that was ignored when the process began
    /// (`nohup`) stays ignored.
    ///
    /// - Throws: if no descriptors are free.
    public static func ofProcess() throws(SystemError) -> SignalWatch { try SignalWatch() }

    /// Watches some of these signals. This is for tests, whose process goes on to end by the others.
    package init(_ signals: [Signal] = Signal.allCases) throws(SystemError) {
        pipe = try SignalPipe(signals.map(\.rawValue), restores: false)
    }

    /// Makes a write to a pipe without a reader fail instead of ending this process, for programs that continue without their
    /// readers. Programs that they start have the signal as usual.
    public static func ignoreBrokenPipes() { Signals.ignoreBrokenPipes() }

    /// The next signal that has come, or nil. Never waits.
    public func next() -> Signal? { pipe.next().flatMap(Signal.init) }
}
