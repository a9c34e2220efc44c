import Foundation
import LoopCore
import LoopNode
import LoopView
import Testing

@testable import LoopApp

/// A view on a terminal of the system's own making.
@Suite(.serialized, .timeLimit(.minutes(5))) struct `Terminal program` {
    /// The other side of a terminal: types, and reads what is written to it.
    private final class Keyboard: @unchecked Sendable {
        let descriptor: Int32
        let line: TerminalLine
        private var text = ""

        init(columns: UInt16 = 40, rows: UInt16 = 10) throws {
            descriptor = open("/dev/ptmx", O_RDWR | O_NOCTTY)
            // TIOCSPTLCK and TIOCGPTN: unlock the other side, and tell its number.
            var isLocked: Int32 = 0
            var number: Int32 = 0
            try #require(ioctl(descriptor, 0x4004_5431, &isLocked) == 0 && ioctl(descriptor, 0x8004_5430, &number) == 0)
            let other = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY)
            try #require(other >= 0)
            line = TerminalLine(input: other, output: other)
            var size = winsize(ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
            try #require(ioctl(descriptor, UInt(TIOCSWINSZ), &size) == 0)
        }

        var settings: [UInt32] {
            var settings = termios()
            tcgetattr(line.input, &settings)
            return [settings.c_iflag, settings.c_oflag, settings.c_cflag, settings.c_lflag]
        }

        func type(_ text: String) { _ = text.withCString { write(descriptor, $0, strlen($0)) } }

        /// Reads until something was written, on a thread of its own.
        func reads(_ wanted: String) async {
            await withCheckedContinuation { continuation in
                Thread.detachNewThread {
                    var bytes = [UInt8](repeating: 0, count: 4096)
                    while !self.text.contains(wanted) {
                        let count = read(self.descriptor, &bytes, bytes.count)
                        if count <= 0 { break }
                        self.text += String(decoding: bytes[..<count], as: UTF8.self)
                    }
                    continuation.resume()
                }
            }
        }

        func close() {
            Foundation.close(line.input)
            Foundation.close(descriptor)
        }
    }

    private static func store() -> Store<String, String> {
        Store(initial: "", reducer: { state, event in state = event })
    }

    private static func page(_ store: Store<String, String>) -> Widget<String, String> {
        Widget(viewModel: store) { context in
            TextField("Name", text: context.binding(for: \.self, event: { $0 }))
            Text("hello \(context.state)!")
        }
    }

    @Test func `what is typed becomes actions, the answer is shown, and the terminal is given back`() async throws {
        let keyboard = try Keyboard()
        let before = keyboard.settings
        let store = Self.store()
        let page = Self.page(store)
        let line = keyboard.line
        let run = Task { try await TerminalProgram.run(page, framesPerSecond: 1000, on: line) }
        await keyboard.reads("hello !")
        #expect(keyboard.settings != before)
        keyboard.type("Åb")
        await keyboard.reads("hello Åb!")
        #expect(store.state == "Åb")
        store.send(event: "Eve")
        await keyboard.reads("hello Eve!")
        keyboard.type("\u{3}")
        #expect(try await run.value == .left)
        #expect(keyboard.settings == before)
        await keyboard.reads(TerminalScreen.restoring)
        keyboard.close()
    }

    @Test func `a task that is cancelled gives the terminal back`() async throws {
        let keyboard = try Keyboard()
        let before = keyboard.settings
        let page = Self.page(Self.store())
        let line = keyboard.line
        let run = Task { try await TerminalProgram.run(page, framesPerSecond: 30, on: line) }
        await keyboard.reads("hello !")
        run.cancel()
        #expect(try await run.value == .cancelled)
        #expect(keyboard.settings == before)
        keyboard.close()
    }

    @Test func `without a terminal it says so`() async throws {
        let null = open("/dev/null", O_RDWR)
        defer { close(null) }
        let line = TerminalLine(input: null, output: null)
        let page = Self.page(Self.store())
        await #expect(throws: SystemError.self) { try await TerminalProgram.run(page, framesPerSecond: 30, on: line) }
    }
}
