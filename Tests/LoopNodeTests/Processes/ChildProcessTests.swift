import Glibc
import Linux
import LoopNode
import TestFolders
import Testing

@Suite struct `Child processes` {
    /// Collects lines as they come.
    private struct Lines: Sendable {
        private let mailbox: Mailbox<String>
        init() throws { mailbox = try Mailbox() }
        var output: ChildProcess.Output {
            .lines { channel, line in mailbox.post(channel == .output ? line : "! \(line)") }
        }
        /// What has come since the last call.
        var inOrder: [String] {
            var lines: [String] = []
            mailbox.takeAll(into: &lines)
            return lines
        }
    }

    private func shell(_ script: String, _ output: ChildProcess.Output = .discarded) -> ChildProcess.Plan {
        ChildProcess.Plan("/bin/sh", ["-c", script], output: output)
    }

    @Test(arguments: [("exit 0", ProcessExit.exited(0)), ("exit 7", .exited(7)), ("kill -9 $$", .signaled(9))])
    func `end with their status`(script: String, status: ProcessExit) async throws {
        let child = try ChildProcess(shell(script))
        #expect(await child.wait() == status)
        #expect(child.status == status)
        #expect(await child.wait() == status)
        child.kill()
    }

    @Test func `give their output line by line, also the last one without an end`() async throws {
        let lines = try Lines()
        let child = try ChildProcess(shell("echo one; printf 'two\\r\\n'; echo wrong >&2; printf three", lines.output))
        _ = await child.wait()
        let all = lines.inOrder
        #expect(all.sorted() == ["! wrong", "one", "three", "two"])
        #expect(all.filter { !$0.hasPrefix("!") } == ["one", "two", "three"])
    }

    @Test func `give much output whole`() async throws {
        let lines = try Lines()
        let child = try ChildProcess(shell("i=0; while [ $i -lt 20000 ]; do echo $i; i=$((i+1)); done", lines.output))
        #expect(await child.wait().isSuccess)
        #expect(lines.inOrder == (0..<20000).map { "\($0)" })
    }

    @Test func `get their arguments, environment and folder, and an empty input`() async throws {
        let lines = try Lines()
        let plan = ChildProcess.Plan(
            "sh", ["-c", "cat; echo \"$0|$1|$LOOP_X|$PWD|$HOME\"", "a b", "ü"],
            environment: ["LOOP_X": "1=2", "PATH": "/usr/bin:/bin"], directory: "/", output: lines.output)
        #expect(try await ChildProcess(plan).wait().isSuccess)
        #expect(lines.inOrder == ["a b|ü|1=2|/|"])
    }

    @Test func `inherit the environment where none is given`() async throws {
        let lines = try Lines()
        _ = try await ChildProcess(shell("echo $PATH", lines.output)).wait()
        #expect(lines.inOrder == [ProcessEnvironment.current["PATH"]])
    }

    @Test(arguments: [
        ("/no/such/program", "could not start /no/such/program: No such file or directory"),
        ("no-such-program", "could not start no-such-program: No such file or directory"),
        ("/etc/passwd", "could not start /etc/passwd: Permission denied"),
    ])
    func `that cannot be started say which and why`(program: String, line: String) {
        let error = #expect(throws: SystemError.self) { try ChildProcess(ChildProcess.Plan(program)) }
        #expect(error?.description == line)
    }

    @Test func `that cannot run in a folder say so`() {
        let plan = ChildProcess.Plan("/bin/true", directory: "/no/such/folder", output: .discarded)
        #expect(throws: SystemError("start /bin/true in /no/such/folder", code: ENOENT)) { try ChildProcess(plan) }
    }

    @Test func `start with the standard signals, whatever this process blocks`() async throws {
        let status = try await NodeThread.run("blocker") {
            Signals.blockAll()
            return try ChildProcess(ChildProcess.Plan("/bin/sh", ["-c", "kill -TERM $$; exit 3"], output: .discarded))
        }.wait()
        #expect(status == .signaled(SIGTERM))
    }

    @Test func `end when asked to, and when they do not listen`() async throws {
        let polite = try ChildProcess(shell("exec sleep 1000"))
        polite.terminate()
        #expect(await polite.wait() == .signaled(SIGTERM))

        let (lines, feed) = AsyncStream.makeStream(of: String.self)
        let deaf = try ChildProcess(
            shell("trap '' TERM; echo ready; while :; do sleep 1; done", .lines { _, line in feed.yield(line) }))
        for await line in lines {
            #expect(line == "ready")
            break
        }
        deaf.terminate()
        deaf.kill()
        #expect(await deaf.wait() == .signaled(SIGKILL))
    }

    @Test func `that are stopped are ended too`() async throws {
        let child = try ChildProcess(shell("exec sleep 1000"))
        child.send(SIGSTOP)
        child.kill()
        #expect(await child.wait() == .signaled(SIGKILL))
    }

    @Test func `inherit no descriptor of this process but the standard ones`() async throws {
        let leak = open("/dev/null", O_RDONLY)
        defer { close(leak) }
        let lines = try Lines()
        _ = try await ChildProcess(ChildProcess.Plan("/bin/ls", ["/proc/self/fd"], output: lines.output)).wait()
        // 3 is the folder that ls reads.
        #expect(lines.inOrder == ["0", "1", "2", "3"])
    }

    @Test func `a child's child that keeps the output open does not delay the end`() async throws {
        let lines = try Lines()
        var plan = shell("sleep 1000 & echo done", lines.output)
        plan.ownGroup = true
        #expect(try await ChildProcess(plan).wait().isSuccess)
        #expect(lines.inOrder == ["done"])
    }
}

@Suite struct `Nothing is left running` {
    /// A named pipe: reading it to its end proves that every process that held it is gone.
    private struct Held: Sendable {
        private let folder = TestFolder()
        var path: String { "\(folder.path)/held" }

        init() throws {
            try #require(mkfifo(path, 0o600) == 0)
        }

        /// Opens the pipe, calls the body once a holder has said hello, and returns when all holders are gone.
        func readToEnd(_ whenHeld: @escaping @Sendable () -> Void) async throws {
            let path = self.path
            try await NodeThread.run("held") {
                let descriptor = open(path, O_RDONLY | O_CLOEXEC)
                defer { close(descriptor) }
                var byte: UInt8 = 0
                var isHeld = false
                while read(descriptor, &byte, 1) > 0 {
                    if !isHeld { whenHeld() }
                    isHeld = true
                }
            }
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `when a process in the middle is killed its child dies`() async throws {
        let held = try Held()
        let starter = try Held()
        async let middle: Void = {
            await #expect(processExitsWith: .signal(SIGKILL)) {
                [path = held.path as String, start = starter.path as String] in
                let script = "exec 3>\(path); echo held >&3; exec sleep 1000"
                let child = try ChildProcess(ChildProcess.Plan("/bin/sh", ["-c", script], output: .discarded))
                // Opening it for reading waits until it is opened for writing.
                close(open(start, O_RDONLY | O_CLOEXEC))
                kill(getpid(), SIGKILL)
                _ = await child.wait()
            }
        }()
        try await held.readToEnd { close(open(starter.path, O_WRONLY | O_CLOEXEC)) }
        await middle
    }

    @Test(.timeLimit(.minutes(5)))
    func `of a group when its leader has ended`() async throws {
        let held = try Held()
        let script = "(exec 3>\(held.path); echo held >&3; exec sleep 1000) & wait"
        let child = try ChildProcess(
            ChildProcess.Plan("/bin/sh", ["-c", script], output: .discarded, ownGroup: true))
        try await held.readToEnd { kill(child.processID, SIGKILL) }
        #expect(await child.wait() == .signaled(SIGKILL))
    }

    @Test(.timeLimit(.minutes(5)))
    func `of a group that is asked to end`() async throws {
        let held = try Held()
        let script = "(exec 3>\(held.path); echo held >&3; exec sleep 1000) & wait"
        let child = try ChildProcess(
            ChildProcess.Plan("/bin/sh", ["-c", script], output: .discarded, ownGroup: true))
        try await held.readToEnd { child.terminate() }
        #expect(await child.wait() == .signaled(SIGTERM))
    }
}
