import Glibc
import LoopNode
import LoopWire
import TestFolders
import Testing

@testable import LoopNode

@Suite struct `Lines of a log that wait` {
    @Test func `come out in order, once`() {
        var buffer = LogBuffer()
        buffer.append("a\n")
        buffer.append("b\n")
        #expect(buffer.takeAll() == ["a\n", "b\n"])
        #expect(buffer.isEmpty)
        #expect(buffer.takeAll() == [])
        #expect(buffer.droppedCount == 0)
    }

    @Test func `are dropped beyond the limit, counted, and named where they are missing`() {
        var buffer = LogBuffer(linesMax: 2, bytesMax: 100)
        for text in ["a\n", "b\n", "c\n", "d\n"] { buffer.append(text) }
        #expect(buffer.takeAll() == ["a\n", "b\n", "2 lines of the log are missing here: nobody read it\n"])
        #expect(buffer.droppedCount == 2)
        buffer.append("e\n")
        #expect(buffer.takeAll() == ["e\n"])
    }

    @Test func `are dropped beyond a number of bytes`() {
        var buffer = LogBuffer(linesMax: 10, bytesMax: 4)
        for text in ["ab\n", "cd\n", "\n"] { buffer.append(text) }
        #expect(buffer.takeAll() == ["ab\n", "1 line of the log is missing here: nobody read it\n", "\n"])
        #expect(buffer.droppedCount == 1)
    }
}

@Suite(.timeLimit(.minutes(1))) struct `A writer of log lines` {
    /// The two ends of a pipe; what is written waits, reading does not.
    private func pipeEnds() -> (read: Int32, write: Int32) {
        var ends: [Int32] = [-1, -1]
        precondition(pipe(&ends) == 0)
        _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
        return (ends[0], ends[1])
    }

    private func everything(in descriptor: Int32) -> String {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
            bytes += buffer[..<count]
        }
    }

    @Test func `writes what it is given in order, and has written it after a flush`() {
        let (readEnd, writeEnd) = pipeEnds()
        let writer = LogWriter(writeEnd)
        for number in 0..<500 { writer.write("\(number)\n") }
        #expect(writer.flush(within: .seconds(30)))
        #expect(everything(in: readEnd) == (0..<500).map { "\($0)\n" }.joined())
        #expect(writer.droppedCount == 0)
    }

    @Test func `drops and counts while the pipe is not read, waits in vain once, and goes on when it is read again`() {
        let (readEnd, writeEnd) = pipeEnds()
        let writer = LogWriter(writeEnd)
        let line = String(repeating: "x", count: 99) + "\n"
        // More than the pipe, a round of the thread and the buffer hold.
        for _ in 0..<10_000 { writer.write(line) }
        #expect(!writer.flush(within: .milliseconds(20)))
        #expect(!writer.flush(within: .seconds(3600)))
        let dropped = writer.droppedCount
        #expect(dropped > 0)
        var text = ""
        repeat { text += everything(in: readEnd) } while !writer.flush(within: .milliseconds(1))
        text += everything(in: readEnd)
        // How often the thread comes in between is the scheduler's to say, and so is where the gaps are.
        let lines = text.split(separator: "\n")
        let notes = lines.filter { $0.hasSuffix("missing here: nobody read it") }
        #expect(notes.compactMap { Int($0.prefix { $0.isNumber }) }.reduce(0, +) == Int(dropped))
        #expect(lines.count - notes.count + Int(dropped) == 10_000)
        #expect(writer.droppedCount == dropped)
    }

    @Test func `survives its reader, and leaves SIGPIPE to the process`() {
        let (readEnd, writeEnd) = pipeEnds()
        let writer = LogWriter(writeEnd)
        close(readEnd)
        writer.write("a\n")
        writer.write("b\n")
        #expect(writer.flush(within: .seconds(30)))
        #expect(writer.droppedCount == 2)
        var action = sigaction()
        sigaction(SIGPIPE, nil, &action)
        #expect(action.__sigaction_handler.sa_handler == nil)
    }
}

@Suite(.timeLimit(.minutes(2))) struct `Standard error of a process` {
    @Test func `has every line at a normal exit`() async throws {
        let result = try await #require(processExitsWith: .exitCode(0), observing: [\.standardErrorContent]) {
            for number in 0..<900 { StandardError.line("line \(number)") }
            exit(0)
        }
        let lines = String(decoding: result.standardErrorContent, as: UTF8.self).split(separator: "\n")
        #expect(lines.filter { $0.hasPrefix("line ") } == (0..<900).map { "line \($0)" })
    }

    @Test func `that is not read costs the reducer nothing but lines, whose number its status shows`() async throws {
        await #expect(processExitsWith: .exitCode(0)) {
            var ends: [Int32] = [-1, -1]
            precondition(pipe(&ends) == 0 && dup2(ends[1], 2) == 2)
            let address = ipcAddress()
            let node = try ReducerNode(
                Fuses(), configuration: ReducerNodeConfiguration(bind: try BindAddress(address), journal: .memory))
            let run = Task { try await node.run() }
            let line = String(repeating: "x", count: 99)
            for _ in 0..<10_000 { StandardError.line(line) }
            let report = try StatusProbe.ask(address, within: .seconds(30))
            let again = try StatusProbe.ask(address, within: .seconds(30))
            guard report.isReady, again.counters["droppedLogLine"] ?? 0 > 1000 else { exit(1) }
            node.stop()
            _ = try await run.value
            exit(0)
        }
    }
}
