internal import Glibc
internal import Linux
internal import LoopNode
public import LoopView

/// Shows a view on the terminal of this process.
///
/// ```swift
/// let store = Store(Movies())
/// try await TerminalProgram.run(MoviesPage(store: store))
/// ```
public enum TerminalProgram {
    /// The reason for the end.
    public enum End: Equatable, Sendable {
        /// The user has pressed a key to leave.
        case left
        /// A signal has ended the program, including those that the terminal sends.
        case signal(Int32)
        /// The input has ended, because the terminal is gone.
        case inputEnded
        /// The task was cancelled.
        case cancelled
    }

    private enum Mail: Sendable {
        case tree(ViewTree)
        case stop
    }

    /// Takes the terminal, and restores it when the user leaves, at a signal, or when the task is cancelled.
    /// - Parameters:
    ///   - view: the view to draw.
    ///   - framesPerSecond: the largest number of drawings per second.
    /// - Throws: if input or output is not a terminal.
    @discardableResult
    public static func run(_ view: some View, framesPerSecond: Int = 30) async throws -> End {
        try await run(view, framesPerSecond: framesPerSecond, on: .standard)
    }

    static func run(_ view: some View, framesPerSecond: Int, on line: TerminalLine) async throws -> End {
        let mailbox = try Mailbox<Mail>()
        let frames = Frames(of: view, perSecond: framesPerSecond)
        // Detached, because it draws while this task waits for the terminal's thread. It is cancelled with this task.
        let drawing = Task.detached {
            for await tree in frames { mailbox.post(.tree(tree)) }
        }
        defer { drawing.cancel() }
        return try await withTaskCancellationHandler {
            // A thread of its own, because it waits for keys.
            try await NodeThread.run("terminal") { try live(mailbox, line) }
        } onCancel: {
            mailbox.post(.stop)
        }
    }

    private static func live(_ mailbox: Mailbox<Mail>, _ line: TerminalLine) throws -> End {
        let settings = try TerminalSettings(line)
        defer { settings.restore() }
        // Signals are caught while this runs. Afterwards they do what they did before.
        let signals = try SignalPipe([SIGTERM, SIGINT, SIGHUP, SIGWINCH], restores: true)
        let hasColours = ProcessEnvironment.current["NO_COLOR"] == nil
        var screen = TerminalScreen(size: line.size, hasColours: hasColours)
        var keys = KeyReader()
        var mail: [Mail] = []
        line.write(screen.begin())
        while true {
            var ready = [line.input, mailbox.descriptor, signals.descriptor].map { Poll.item($0, POLLIN) }
            // The rest of a sequence follows its escape at once.
            guard let count = Poll.wait(&ready, milliseconds: keys.awaitsMore ? 50 : nil) else { continue }
            while let signal = signals.next() {
                guard signal == SIGWINCH else { return .signal(signal) }
                take(screen.resize(line.size), screen, line)
            }
            mailbox.takeAll(into: &mail)
            if let newest = newest(mail) { take(screen.show(newest), screen, line) }
            if mail.contains(where: { if case .stop = $0 { true } else { false } }) { return .cancelled }
            var pressed = count == 0 ? keys.pause() : []
            if ready[0].revents != 0 {
                guard let bytes = line.read() else { return .inputEnded }
                pressed += keys.read(bytes)
            }
            for key in pressed {
                let reaction = screen.press(key)
                take(reaction, screen, line)
                if reaction.isEnd { return .left }
            }
        }
    }

    private static func newest(_ mail: [Mail]) -> ViewTree? {
        mail.reversed().lazy.compactMap { if case .tree(let tree) = $0 { tree } else { nil } }.first
    }

    private static func take(_ reaction: TerminalScreen.Reaction, _ screen: TerminalScreen, _ line: TerminalLine) {
        if !reaction.text.isEmpty { line.write(reaction.text) }
        for action in reaction.actions { screen.tree.perform(action) }
    }
}
