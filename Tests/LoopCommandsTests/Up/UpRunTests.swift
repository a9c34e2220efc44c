import Glibc
import Linux
import LoopNode
import TestFolders
import Testing

@testable import LoopCommands

/// `up` with scripts in the place of its programs: what they do is known, and quick.
/// One run after another, because a process watches signals for one of them.
@Suite(.serialized, .timeLimit(.minutes(5))) struct `A run of up` {
    private func run(
        reducer: String, worker: String, workers: Int = 2, stoppedBy signal: Int32 = SIGHUP
    ) async throws -> (code: Int32, left: [String]) {
        let temporary = TestFolder()
        let folder = temporary.path
        for (name, script) in [("reducer", reducer), ("worker", worker)] {
            temporary.writeProgram(name, "echo $$ >> \(folder)/pids\n\(script)")
        }
        let request = try upRequest([
            "up", "none", "--workers", "\(workers)", "--bind", "ipc://\(folder)/socket", "--reducer-exe",
            "\(folder)/reducer", "--worker-exe", "\(folder)/worker",
        ])
        let plan = try UpPlan(request, claimed: nil, folder: folder)
        let signals = try SignalPipe([signal], restores: false)
        let code = await UpRun(plan, console: Console(isQuiet: true)).run(signals, saying: nil)
        return (code, try running(temporary.path))
    }

    /// Those of the processes that still run.
    private func running(_ folder: String) throws -> [String] {
        let file = try #require(fopen("\(folder)/pids", "r"))
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 64)
        var left: [String] = []
        while fgets(&line, 64, file) != nil {
            let text = String(
                decoding: line.prefix { $0 != 0 && $0 != 10 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            if let number = Int32(text), kill(number, 0) == 0 { left.append(text) }
        }
        return left
    }

    @Test(arguments: [0, 1] as [Int32])
    func `ends with the verdict of its reducer`(code: Int32) async throws {
        let (got, left) = try await run(reducer: "exit \(code)", worker: "exit 0")
        #expect(got == code)
        #expect(left == [])
    }

    @Test func `kills workers when the reducer could not run`() async throws {
        let (code, left) = try await run(reducer: "exit 2", worker: "exec sleep 1000")
        #expect(code == 2)
        #expect(left == [])
    }

    @Test func `does not start again a reducer that says why it cannot run`() async throws {
        let script = "echo 'the journal a.journal is held by another reducer' >&2; exit 2"
        let (code, left) = try await run(reducer: script, worker: "exec sleep 1000", workers: 1)
        #expect(code == 2)
        #expect(left == [])
    }

    @Test func `kills workers that do not leave after the verdict`() async throws {
        let (code, left) = try await run(reducer: "exit 0", worker: "trap '' TERM; while :; do sleep 1; done")
        #expect(code == 0)
        #expect(left == [])
    }

    @Test func `stops the reducer when no worker can work`() async throws {
        let (code, left) = try await run(reducer: "exec sleep 1000", worker: "exit 64")
        #expect(code == 64)
        #expect(left == [])
    }

    @Test func `starts again what was killed`() async throws {
        let once = "if [ -e $0.once ]; then exit 1; fi; touch $0.once; kill -9 $$"
        let (code, left) = try await run(reducer: once, worker: "exec sleep 1000")
        #expect(code == 1)
        #expect(left == [])
    }

    @Test func `ends in order by a signal that comes twice, as timeout sends it`() async throws {
        let ready = "$(dirname $0)/ready"
        let reducer = "until [ -e \(ready) ]; do sleep 0.01; done; kill -USR2 $PPID; sleep 0.1; kill -USR2 $PPID"
        let worker = "trap 'sleep 0.3; exit 0' TERM; touch \(ready); while :; do sleep 0.01; done"
        let (code, left) = try await run(
            reducer: reducer + "; exec sleep 1000", worker: worker, workers: 1, stoppedBy: SIGUSR2)
        #expect(code == 0)
        #expect(left == [])
    }
}
