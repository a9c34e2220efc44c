import Foundation
import TestFolders
import Testing

/// The scripts of `make`, run with stubs in the place of the system's programs.
@Suite struct `The scripts` {
    /// Runs shell commands at the root with `PATH` leading to the stubs first.
    private func shell(_ commands: String, stubs: [String: String] = [:], path: String = "/usr/bin:/bin") throws
        -> (code: Int32, output: String)
    {
        let folder = TestFolder()
        defer { withExtendedLifetime(folder) {} }
        for (name, body) in stubs { folder.writeProgram(name, body) }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", commands]
        process.currentDirectoryURL = Repository.root
        process.environment = ["PATH": "\(folder.path):\(path)", "STUBS": folder.path, "HOME": folder.path]
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let bytes = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: bytes, as: UTF8.self))
    }

    private static let passed = "✔ Test run with 12 tests in 3 suites passed after 0.1 seconds."

    // Not arguments of the test: those are printed, and would count as results themselves.
    private static let logs: [(log: String, expected: Int, code: Int32, output: String)] = [
        ("\(passed)\n✔ Test run with 1 test in 1 suite passed after 0.1 seconds.", 13, 0, "13 passed, 0 failed\n"),
        (passed, 11, 1, "12 tests ran, but 11 were built\n11 passed, 1 failed\n"),
        (passed, 13, 1, "12 tests ran, but 13 were built\n11 passed, 1 failed\n"),
        (
            "✘ Test \"a\" recorded an issue at A.swift:1:2: no\n✘ Test \"a\" failed after 1 seconds with 1 issue.\n✘ Suite b failed after 1 seconds with 1 issue.\n"
                + "✘ Test case passing 1 argument a → 1 to b failed after 1 seconds with 1 issue.\n"
                + "✘ Test run with 3 tests in 1 suite failed after 1 seconds with 1 issue.", 3, 1,
            "✘ Test \"a\" recorded an issue at A.swift:1:2: no\n"
                + "✘ Test \"a\" failed after 1 seconds with 1 issue.\n2 passed, 1 failed\n"
        ),
        (
            "➜ Test \"a\" skipped: \"no\"\n\(passed)", 12, 1,
            "1 tests were skipped, and none may be\n11 passed, 1 failed\n"
        ),
        (
            "\(passed)\nXTests ended without a result", 12, 1,
            "1 targets ended without a result: a crash, or a filter that matched nothing\n"
                + "XTests ended without a result\n12 passed, 1 failed\n"
        ),
        (
            "\(passed)\n✔ Test run with 0 tests in 0 suites passed after 0.1 seconds.", 12, 1,
            "1 targets have no tests\n11 passed, 1 failed\n"
        ),
        ("\(passed)\nswift test ended with exit code 1", 12, 1, "11 passed, 1 failed\n"),
    ]

    @Test func `count tests, and call nothing a success that is none`() throws {
        for (log, expected, code, output) in Self.logs {
            let commands = "log=$STUBS/log; expected=\(expected); status=0; cat <<'E' >$log\n\(log)\nE\n"
            let result = try shell(commands + ". scripts/test-summary; exit $status")
            #expect(result.output == output)
            #expect(result.code == code)
        }
    }

    @Test(arguments: [("deliberate", 0), ("", 2), ("deliberate other", 1), ("deliberate failed", 1), ("other", 2)])
    func `of the sanitizer pass only where the race on purpose is found, and nothing else`(kinds: String, code: Int32)
        throws
    {
        let swift = """
            case $* in
            *--version*) echo 'Swift version 99.1 (swift-99.1-RELEASE)' ;;
            test*)
                case $KINDS in *deliberate*) echo 'in deliberateRace' >"${TSAN_OPTIONS#log_path=}.1" ;; esac
                case $KINDS in *other*) echo 'in another' >"${TSAN_OPTIONS#log_path=}.2" ;; esac
                echo '\(Self.passed)'
                case $KINDS in *failed*) exit 66 ;; esac ;;
            esac
            """
        let stubs = ["dpkg-query": Self.nothingMissing, "swift": swift]
        let result = try shell("KINDS='\(kinds)' TSAN_BUILD=$STUBS/tsan scripts/test-tsan", stubs: stubs)
        #expect(result.code == code, "\(result.output)")
    }

    @Test(arguments: [("9 0.2", "it has printed nothing for 0.2 s"), ("0.3 9", "it has run for 0.3 s")])
    func `end tests that hang, and name them`(limits: String, why: String) throws {
        let script = """
            echo '◇ Test "a" started.'; echo '◇ Test "b, with more" started.'; echo '◇ Test c() started.'
            echo '✘ Test "b, with more" with 2 test cases failed after 1 seconds with 1 issue.'
            echo '✔ Test c() passed after 1 seconds.'; sleep 60 & wait
            """
        let folder = TestFolder()
        folder.writeProgram("hang", script)
        let result = try shell("scripts/limit \(limits) \(folder.path)/hang")
        #expect(result.code == 124)
        #expect(result.output.hasSuffix("limit: ended hang, because \(why); these tests hang:\n    \"a\"\n"))
        #expect(try shell("scripts/limit 9 9 sh -c 'echo one; exit 3'").code == 3)
    }

    private static let nothingMissing = #"for p in $*; do printf "installed=$p "; done"#
    private static let curlMissing =
        #"for p in $*; do case $p in *curl*) ;; *) printf "installed=$p ";; esac; done; exit 1"#
    private static let noted = #"echo "apt-get $*" >>"$STUBS/calls""#

    @Test func `install nothing, and say nothing, where nothing is missing`() throws {
        let stubs = ["dpkg-query": Self.nothingMissing, "apt-get": "exit 1"]
        let result = try shell("scripts/install-packages", stubs: stubs)
        #expect(result.output == "")
        #expect(result.code == 0)
    }

    @Test func `install what is missing, and what is named in addition`() throws {
        let stubs = ["dpkg-query": Self.curlMissing, "apt-get": Self.noted, "id": "echo 0"]
        let result = try shell("scripts/install-packages curl-of-mine; cat $STUBS/calls", stubs: stubs)
        #expect(result.output.contains("installing libcurl4-openssl-dev curl-of-mine"))
        #expect(result.output.contains("install -y --no-install-recommends libcurl4-openssl-dev curl-of-mine"))
    }

    @Test func `fetch the lists of packages where there are none yet`() throws {
        let apt = "\(Self.noted); case $* in *update*) touch $STUBS/lists;; *) [ -e $STUBS/lists ];; esac"
        let stubs = ["dpkg-query": Self.curlMissing, "apt-get": apt, "id": "echo 0"]
        let result = try shell("scripts/install-packages", stubs: stubs)
        #expect(result.code == 0)
    }

    @Test func `use sudo where they are not root`() throws {
        let stubs = [
            "dpkg-query": Self.curlMissing, "apt-get": Self.noted, "id": "echo 1000", "sudo": #"echo sudo; exec "$@""#,
        ]
        let result = try shell("scripts/install-packages", stubs: stubs)
        #expect(result.output.contains("sudo\n"))
        #expect(result.code == 0)
    }

    @Test func `say what is missing where they may not install it`() throws {
        let stubs = ["dpkg-query": Self.curlMissing, "apt-get": "exit 1", "id": "echo 1000", "sudo": "exit 1"]
        let result = try shell("scripts/install-packages", stubs: stubs)
        #expect(result.output.contains("libcurl4-openssl-dev"))
        #expect(result.code == 2)
    }

    @Test func `say on another system what is missing, and stop`() throws {
        // No dpkg-query and no apt-get in this PATH.
        let tools = ["pkg-config": "[ $2 != libcurl ]"]
        let result = try shell("/bin/sh scripts/install-packages", stubs: tools, path: "/nowhere")
        #expect(
            result.output
                == "install-packages: this is not Debian, and these are missing: libcurl; install them, with their headers, "
                + "by hand\n")
        #expect(result.code == 2)
    }

    @Test func `install make where it is missing, and hand it what they are given`() throws {
        let stubs = [
            "dpkg-query": #"for p in $*; do [ $p = make ] || printf "installed=$p "; done"#, "id": "echo 0",
            "apt-get": #"printf '#!/bin/sh\necho made "$@"' >"$STUBS/make"; /bin/chmod +x "$STUBS/make""#,
            "dirname": #"exec /usr/bin/dirname "$@""#, "env": #"exec /usr/bin/env "$@""#,
        ]
        let result = try shell("./make run SITE=docs", stubs: stubs, path: "/nowhere")
        #expect(result.output == "install-packages: installing make\nmade run SITE=docs\n")
        #expect(result.code == 0)
    }

    @Test func `lint no more files at a time than a process may open`() throws {
        let swift = """
            case $* in
            *--version*) echo 'Swift version 99.1 (swift-99.1-RELEASE)' ;;
            format*) [ $# -lt 500 ] || { echo "$# files at a time"; exit 1; } ;;
            *) echo "linted"; exit 3 ;;
            esac
            """
        let result = try shell("scripts/test", stubs: ["dpkg-query": Self.nothingMissing, "swift": swift])
        #expect(result.output == "linted\n")
        #expect(result.code == 3)
    }

    @Test(arguments: [("1000", "only root can set up podman"), ("0", "podman could not be installed")])
    func `fail where no container engine can be had`(user: String, why: String) throws {
        let stubs = [
            "docker": "echo no daemon; exit 1", "id": "echo \(user)", "dpkg-query": "exit 1", "apt-get": "exit 1",
        ]
        let result = try shell("scripts/with-engine true", stubs: stubs)
        #expect(result.output.contains("no container engine: docker does not answer (no daemon), and \(why)"))
        #expect(result.code == 2)
    }

    @Test func `use Docker where its daemon answers`() throws {
        let result = try shell("scripts/with-engine sh -c 'echo $ENGINE'", stubs: ["docker": "exit 0"])
        #expect(result.output == "docker\n")
        #expect(result.code == 0)
    }

    @Test(
        arguments: [("99.1", 0, "/swift"), ("6.1.2", 2, "needed"), ("5.10", 2, "needed")] as [(String, Int32, String)])
    func `take a Swift that is new enough for the manifest`(version: String, code: Int32, output: String) throws {
        let stubs = ["swift": "echo 'Swift version \(version) (swift-\(version)-RELEASE)'"]
        let commands = "scripts/find-swift"
        let result = try shell(commands, stubs: stubs)
        // A newer one may be installed where the script looks next.
        if code == 0 || result.code != 0 {
            #expect(result.code == code)
            #expect(result.output.contains(output))
        } else {
            #expect(!result.output.hasPrefix(FileManager.default.temporaryDirectory.path))
        }
    }

    @Test(arguments: [
        ("FOO=1 run", "unknown variable FOO for make run; see make help"),
        ("WORKERS=2 test", "unknown variable WORKERS for make test; see make help"),
        ("MODUS=web example", "unknown variable MODUS for make example; see make help"),
        ("SITE=x", "unknown variable SITE for make help; see make help"),
    ])
    func `are not started by make with a variable that they do not take`(words: String, line: String) throws {
        let result = try shell("make \(words)")
        #expect(result.output.contains(line))
        #expect(result.code == 2)
    }

    @Test(arguments: [("", true), ("STRICT=0", true), ("STRICT=1", false)])
    func `leave broken links to the report, unless they are to fail`(words: String, exitsZero: Bool) throws {
        let result = try shell("\(words) scripts/run", stubs: ["setpriv": #"echo "$@""#])
        #expect(result.output.contains("loopctl up linkcheck --workers 4 --journal .build/journals/linkcheck-"))
        #expect(result.output.contains(" --exit-zero") == exitsZero)
        #expect(result.code == 0)
    }

    @Test func `take no other word for that`() throws {
        let result = try shell("STRICT=yes scripts/run")
        #expect(result.output == "run: STRICT is yes; it is 1 or 0\n")
        #expect(result.code == 64)
    }

    @Test func `of make are all in its help`() throws {
        let help = try shell("make").output
        let text = try Repository.text("Makefile")
        let line = try #require(text.split(separator: "\n").first { $0.hasPrefix(".PHONY:") })
        for target in line.split(separator: " ").dropFirst() { #expect(help.contains("make \(target) ")) }
    }
}
