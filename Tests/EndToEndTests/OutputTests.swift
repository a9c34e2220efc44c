import Glibc
import LoopCollections
import LoopNode
import TestFolders
import Testing

/// A reader of a program's output must not take a part of it for the whole.
@Suite(.timeLimit(.minutes(5))) struct `Standard output that cannot be written` {
    /// Runs a line of the shell, and returns how it ended and what was written to standard error.
    private func shell(_ line: String) async throws -> (ProcessExit, [String]) {
        let lines = Locked<[String]>([])
        let child = try ChildProcess(
            .init("/bin/sh", ["-c", line], output: .lines { _, line in lines.withLock { $0.append(line) } }))
        return (await child.wait(), lines.withLock { $0 })
    }

    private static let tools = [
        "loopctl --help", "loopctl --version", "loopctl state --help", "loop-reducer --help", "loop-reducer --version",
        "loop-reducer counter schema", "loop-reducer counter schema --format json-schema", "loop-effect --help",
    ]
    private static let questions = [
        "status", "status --json", "history", "history --json", "state", "state --json", "state --path open", "schema",
        "schema --format json-schema", "effects", "effects --json", "quarantine", "schedules", "verify",
        "verify --json",
        #"send '{"hold":{"count":0}}'"#,
    ]

    private func command(_ words: String) -> String { Executables.path(words) }

    @Test func `ends every tool with code 2 and the reason`() async throws {
        let ledger = try await LedgerProcess(keys: false)
        let reducer = " " + ledger.options(.admin).joined(separator: " ")
        for line in Self.tools + Self.questions.map({ "loopctl \($0)" + reducer }) {
            for target in [">/dev/full", ">&-"] {
                let (exit, lines) = try await shell("\(command(line)) \(target)")
                #expect(exit == .exited(2), "\(line) \(target)")
                #expect(
                    lines.contains { $0.contains("could not write to standard output") }, "\(line) \(target): \(lines)")
            }
        }
    }

    @Test(arguments: [
        (#"loopctl send "$(printf 'a\377')""#, 64, "argument 2, 'a\u{FFFD}', is no text in UTF-8"),
        (#"loop-reducer counter --journal "$(printf '\377')""#, 64, "argument 3"),
        (#"loop-example "$(printf '\377')""#, 64, "argument 1"),
        (#"env LOOP_REDUCER="$(printf '\377')" loopctl status"#, 64, "variable LOOP_REDUCER is no text in UTF-8"),
        (#"env LOOP_JOURNAL="$(printf '\377')" loop-reducer counter"#, 64, "variable LOOP_JOURNAL"),
        ("loopctl send - <&-", 2, "could not read standard input: "),
        ("loopctl send - </tmp", 2, "could not read standard input: Is a directory"),
        (#"printf '\357\273\277{}' | loopctl send -"#, 2, "standard input begins with a byte order mark"),
    ])
    func `is not needed where a program's input is wrong`(line: String, code: Int32, reason: String) async throws {
        let programs = ["loopctl", "loop-reducer", "loop-example"]
        let words = line.split(separator: " ", omittingEmptySubsequences: false)
        let shown = words.map { programs.contains(String($0)) ? command(String($0)) : String($0) }.joined(
            separator: " ")
        let (exit, lines) = try await shell(shown)
        #expect(exit == .exited(code))
        #expect(lines.count == 1 && lines[0].contains(reason), "\(lines)")
    }

    @Test func `ends a tool without a word if the reader has closed its end`() async throws {
        let script = """
            import os, subprocess, sys
            r, w = os.pipe()
            os.close(r)
            p = subprocess.run(sys.argv[1:], stdout=w, stderr=subprocess.PIPE)
            print(p.returncode, p.stderr.decode())
            """
        for line in Self.tools {
            let lines = Locked<[String]>([])
            let words = line.split(separator: " ").map(String.init)
            let child = try ChildProcess(
                .init(
                    "python3", ["-c", script, command(words[0])] + words.dropFirst(),
                    output: .lines { _, line in lines.withLock { $0.append(line) } }))
            #expect(await child.wait() == .exited(0))
            #expect(lines.withLock { $0 } == ["-13 "], "\(line)")
        }
    }

    @Test func `ends loopctl tail, which would go on for ever`() async throws {
        let ledger = try await LedgerProcess(keys: false)
        let reducer = ledger.options(.admin).joined(separator: " ")
        let ended = Locked(false)
        async let tail = shell("exec \(command("loopctl")) tail \(reducer) >/dev/full")
        async let sends: Void = {
            // A tail begins with the next transition after its connection.
            while !ended.withLock({ $0 }) { _ = try await ledger.send(#"{"hold":{"count":0}}"#) }
        }()
        let (exit, lines) = try await tail
        ended.withLock { $0 = true }
        try await sends
        #expect(exit == .exited(2))
        #expect(lines.contains { $0.contains("could not write to standard output") }, "\(lines)")
    }

    @Test func `is no file that was opened later`() async throws {
        let folder = TestFolder()
        let (exit, _) = try await shell(
            "cd \(folder.path) && \(command("loop-reducer")) counter verify missing.journal >&- 2>&-")
        #expect(exit == .exited(2))
        #expect(TemporaryFolder.names(in: folder.path).isEmpty)
    }
}

@Suite(.timeLimit(.minutes(2))) struct `A command line` {
    private func run(_ words: [String]) async throws -> (ProcessExit, [String]) {
        let lines = Locked<[String]>([])
        let child = try ChildProcess(
            .init(
                Executables.path(words[0]), Array(words.dropFirst()),
                output: .lines { _, line in lines.withLock { $0.append(line) } }))
        return (await child.wait(), lines.withLock { $0 })
    }

    @Test func `names a file for the outcome that cannot be written, before the run`() async throws {
        let folder = TestFolder()
        for file in ["/nonexistent/x", folder.path, "/dev/fd/987"] {
            let (exit, lines) = try await run([
                "loop-reducer", "counter", "--bind", ipcEndpoint(), "--journal", "memory", "--json", file,
            ])
            #expect(exit == .exited(2))
            #expect(lines.contains { $0.contains(file) }, "\(lines)")
            #expect(!lines.contains { $0.contains("listening") })
        }
    }

    @Test(arguments: [
        "postgres:x", "postgresql:x", "sqlite:x", "file:x", "sqlite:///x", "mysql://a:b@c/d", "-x", "https://a/b",
    ])
    func `does not take an address for the name of a journal's file`(journal: String) async throws {
        for words in [
            ["loop-reducer", "counter", "--bind", ipcEndpoint(), "--journal=\(journal)"],
            ["loop-reducer", "counter", "verify", "--", journal],
        ] {
            let (exit, lines) = try await run(words)
            #expect(exit == .exited(64), "\(lines)")
            #expect(
                lines.contains { $0.contains("keeps no journals at") || $0.contains("begins with -") }
                    && !lines.contains { $0.contains("a:b@") }, "\(lines)")
        }
    }

    @Test(arguments: [
        (["--quick"], "--only and --quick go with --mutations"),
        (["--mutations", "--quick", "--only", "silenceIsNoticed"], "--quick goes without --only"),
        (["--mutations", "--only", "silence"], "--only cannot be 'silence': it takes "),
        (["--without-faults", "3-"], "--without-faults cannot be '3-': it takes numbers such as 0-3,7"),
        (["--simpler", "one-client,tiny"], "--simpler cannot be 'one-client,tiny': it takes some of one-client, "),
        (
            ["--first-seed", "9223372036854775807", "--seeds", "1"],
            "--first-seed 9223372036854775807 --seeds 1 go beyond the largest seed"
        ),
    ])
    func `of the simulator is refused if it says nothing that can be run`(words: [String], reason: String) async throws
    {
        let (exit, lines) = try await run(["loop-simulate"] + words)
        #expect(exit == .exited(64))
        #expect(lines.count == 1 && lines[0].contains(reason), "\(lines)")
    }

    @Test func `takes an event from a file and from standard input, above what a word may have`() async throws {
        let ledger = try await LedgerProcess(keys: false)
        let reducer = ledger.options(.sender)
        // White space is part of JSON: the event itself is small.
        let event = #"{"hold":"# + String(repeating: " ", count: 300_000) + #"{"count":0}}"#
        ledger.folder.write("event", event)
        let (first, lines) = try await run(["loopctl", "send", "--file", "\(ledger.folder.path)/event"] + reducer)
        #expect(first == .exited(0) && lines == ["1"], "\(lines)")
        for words in ["send -", "send --file -"] {
            let line =
                "\(Executables.path("loopctl")) \(words) \(reducer.joined(separator: " ")) <\(ledger.folder.path)/event"
            let child = try ChildProcess(.init("/bin/sh", ["-c", line], output: .discarded))
            #expect(await child.wait() == .exited(0))
        }
        #expect(try await ledger.state().hasPrefix(#"{"seq":3,"#))
        let (both, _) = try await run(["loopctl", "send", "{}", "--file", "x"] + reducer)
        #expect(both == .exited(64))
    }
}
