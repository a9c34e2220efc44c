import Foundation
import Glibc
import LoopCollections
import LoopCore
import LoopKeys
import TestFolders
import Testing
import ZMQ

@testable import LoopNode

/// What nodes say over HTTP, asked by a client that knows nothing of them.
@Suite(.timeLimit(.minutes(5))) struct `A node's health` {
    /// Asks for a path.
    private func get(
        _ log: LogCollector, _ path: String, method: String = "GET", headers: String = ""
    ) async throws -> Answer {
        let port = try await port(log)
        return try await NodeThread.run("get") {
            let connection = try Connection(port: port)
            connection.send("\(method) \(path) HTTP/1.1\r\nHost: localhost\r\n\(headers)\r\n")
            return connection.receive()
        }
    }

    private func port(_ log: LogCollector) async throws -> UInt16 {
        while true {
            for line in log.lines {
                if let match = line.firstMatch(of: /http:\/\/127\.0\.0\.1:(\d+)\//), let port = UInt16(match.output.1) {
                    return port
                }
            }
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    /// Asks until the status is as wanted.
    private func wait(_ log: LogCollector, _ path: String, for status: Int) async throws -> Answer {
        while true {
            let answer = try await get(log, path)
            if answer.status == status { return answer }
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    private func metrics(_ log: LogCollector) async throws -> Set<Substring> {
        Set(try await get(log, "/metrics").body.split(separator: "\n"))
    }

    /// A reducer in this process, with a log of its own.
    private final class Reducer: Sendable {
        let log = LogCollector()
        let address = ipcAddress()
        private let node: ReducerNode<Jobs>
        private let run: Task<Outcome?, any Error>

        init(_ jobs: Jobs = Jobs(ends: false), _ change: (inout ReducerNodeConfiguration) throws -> Void = { _ in })
            throws
        {
            var configuration = ReducerNodeConfiguration(
                bind: try BindAddress(address), journal: .memory, log: log.handler)
            configuration.health = try HealthEndpoint("127.0.0.1:0")
            try change(&configuration)
            node = try ReducerNode(jobs, configuration: configuration)
            run = Task { [node] in try await node.run() }
        }

        func stop() async {
            node.stop()
            _ = try? await run.value
        }
    }

    @Test func `of a leader is shown at every path, and counts what it does`() async throws {
        let reducer = try Reducer()
        let ready = try await wait(reducer.log, "/readyz", for: 200)
        #expect(ready.body == "it leads at seq 0, in epoch 1\n")
        let remote = try RemoteLoop(Jobs.self, reducer: reducer.address, log: .silent)
        _ = try await remote.sendAndConfirm(.add(3))
        #expect(try await get(reducer.log, "/livez").body == "turns go on\n")
        #expect(try await get(reducer.log, "/leader").status == 200)
        let standby = try await get(reducer.log, "/standby")
        #expect(standby.status == 503 && standby.body == "it leads\n")
        let status = try await get(reducer.log, "/status.json")
        #expect(status.headers["content-type"] == "application/json")
        let report = try JSONSerialization.jsonObject(with: Data(status.body.utf8)) as? [String: Any]
        #expect(report?["loop"] as? String == "jobs" && report?["seq"] as? Int == 1)
        let lines = try await metrics(reducer.log)
        for line in [
            "loop_up 1", "loop_ready 1", #"loop_role{role="leader"} 1"#, "loop_seq 1", "loop_epoch 1",
            #"loop_effects{feedback="square",group="default",state="waiting",reason="no_worker"} 3"#,
            #"loop_effects{feedback="square",group="default",state="waiting",reason="next"} 0"#,
            #"loop_effects{feedback="square",group="default",state="running",reason="runs"} 0"#,
            "loop_sessions 1", "loop_epochs_begun_total 1",
            #"loop_dropped_total{reason="duplicate_entry"} 0"#,
        ] { #expect(lines.contains(Substring(line)), "\(line) in \(lines.sorted().joined(separator: "\n"))") }
        #expect(lines.contains { $0.hasPrefix(#"loop_journal_info{loop="jobs",journal="memory",history=""#) })
        #expect(lines.contains { $0.hasPrefix("loop_append_seconds_count ") && !$0.hasSuffix(" 0") })
        #expect(!lines.contains { $0.hasPrefix("loop_not_ready") })
        await remote.close()
        await reducer.stop()
    }

    @Test func `is asked in the format of OpenMetrics by those who read it`() async throws {
        let reducer = try Reducer()
        _ = try await wait(reducer.log, "/readyz", for: 200)
        let answer = try await get(
            reducer.log, "/metrics", headers: "Accept: application/openmetrics-text;version=1.0.0\r\n")
        #expect(answer.headers["content-type"] == "application/openmetrics-text; version=1.0.0; charset=utf-8")
        #expect(answer.body.hasSuffix("# EOF\n"))
        await reducer.stop()
    }

    /// The names of the metrics that the page for operators describes.
    private func described() throws -> Set<Substring> {
        let page = URL(filePath: #filePath).appending(path: "../../../../docs/health.md").standardized
        return Set(try String(contentsOf: page, encoding: .utf8).matches(of: /`(loop_[a-z_]+)/).map(\.output.1))
    }

    private func names(_ lines: Set<Substring>) -> Set<Substring> {
        Set(lines.filter { $0.hasPrefix("# TYPE ") }.map { $0.split(separator: " ")[2] })
    }

    /// The parsers are those of Prometheus' own client library.
    @Test func `is read by parsers of both formats, without a complaint`() async throws {
        let reducer = try Reducer()
        _ = try await wait(reducer.log, "/readyz", for: 200)
        let folder = TestFolder()
        folder.write("plain", try await get(reducer.log, "/metrics").body)
        folder.write(
            "open", try await get(reducer.log, "/metrics", headers: "Accept: application/openmetrics-text\r\n").body)
        await reducer.stop()
        let python = Process()
        python.executableURL = URL(filePath: "/usr/bin/python3")
        python.arguments = [
            "-c",
            """
            import sys
            from prometheus_client import parser
            from prometheus_client.openmetrics import parser as strict
            for parse, name in [(parser, "plain"), (strict, "open")]:
                text = open(f"{sys.argv[1]}/{name}", encoding="utf-8").read()
                families = list(parse.text_string_to_metric_families(text))
                print(name, len(families), sum(len(family.samples) for family in families))
            """, folder.path,
        ]
        let output = Pipe()
        python.standardOutput = output
        try python.run()
        let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        python.waitUntilExit()
        #expect(python.terminationStatus == 0, "is python3-prometheus-client installed?")
        let counts = text.split(separator: "\n").map { $0.split(separator: " ").dropFirst() }
        #expect(counts.count == 2 && counts[0] == counts[1] && counts[0].first.flatMap { Int($0) } ?? 0 > 20, "\(text)")
    }

    @Test func `of a reducer that is stuck in an event is that it does not live`() async throws {
        let gate = Monitor(false)
        struct Stuck: LoopDefinition {
            static let name = "stuck"
            let initial = 0
            let gate: Monitor<Bool>
            enum Event: Codable, Sendable { case wait }
            var feedbacks: [Feedback<Int, Event>] { [] }
            func reduce(into state: inout Int, _ event: Event, _: Transition) {
                gate.wait(until: { $0 }, then: { _ in })
                state += 1
            }
        }
        let (log, address) = (LogCollector(), ipcAddress())
        var configuration = ReducerNodeConfiguration(bind: try BindAddress(address), journal: .memory, log: log.handler)
        configuration.health = try HealthEndpoint("127.0.0.1:0")
        let node = try ReducerNode(Stuck(gate: gate), configuration: configuration)
        let run = Task { try await node.run() }
        _ = try await wait(log, "/livez", for: 200)
        let remote = try RemoteLoop(Stuck.self, reducer: address, log: .silent)
        let sent = Task { try await remote.sendAndConfirm(.wait) }
        let stuck = try await wait(log, "/livez", for: 503)
        #expect(stuck.body == "the reducer's thread has not answered for 2 s: it is in reduce of the event wait\n")
        let lines = try await metrics(log)
        #expect(lines.contains("loop_up 0"))
        #expect(lines.contains { $0.hasPrefix(#"loop_reduce_seconds_total{event="wait"} "#) }, "\(lines)")
        gate.withLock { $0 = true }
        gate.broadcast()
        _ = try await sent.value
        _ = try await wait(log, "/livez", for: 200)
        await remote.close()
        node.stop()
        _ = try await run.value
    }

    @Test func `of a standby is ready as a standby, and says how far behind it is`() async throws {
        let folder = TestFolder()
        func member() throws -> Reducer {
            try Reducer {
                $0.journal = .file("\(folder.path)/jobs.journal")
                $0.succession = .standby
            }
        }
        let leader = try member()
        _ = try await wait(leader.log, "/leader", for: 200)
        let standby = try member()
        let follows = "it is a standby, and the leader is at \(leader.address); it is 0 records behind\n"
        while try await wait(standby.log, "/standby?max-lag=1000", for: 200).body != follows {
            try await Task.sleep(for: .milliseconds(5))
        }
        let ready = try await get(standby.log, "/readyz")
        #expect(ready.status == 200 && ready.body.hasPrefix("it is a standby"), "\(ready)")
        #expect(try await get(standby.log, "/leader").status == 503)
        #expect(try await get(standby.log, "/standby?max-lag=many").status == 400)
        let lines = try await metrics(standby.log)
        for line in [
            "loop_ready 0", #"loop_role{role="standby"} 1"#, #"loop_not_ready{reason="standby"} 1"#,
            "loop_standby_cold 0", "loop_standby_lag_records 0",
        ] { #expect(lines.contains(Substring(line)), "\(line) in \(lines.sorted().joined(separator: "\n"))") }
        await leader.stop()
        _ = try await wait(standby.log, "/leader", for: 200)
        let leading = try await metrics(standby.log)
        #expect(leading.contains("loop_epochs_begun_total 1"))
        // A metric that the page leaves out would leave a person on call without help.
        #expect(names(leading).union(names(lines)).subtracting(try described()) == [])
        #expect(names(leading).count > 25 && names(lines).count > 10)
        await standby.stop()
    }

    @Test func `of a worker says whether it has its reducer, and counts attempts`() async throws {
        let (log, address) = (LogCollector(), ipcAddress())
        var configuration = EffectNodeConfiguration(reducer: address, name: "w", log: log.handler)
        configuration.health = try HealthEndpoint("127.0.0.1:0")
        let worker = try EffectNode(Jobs(ends: false), configuration: configuration)
        let run = Task { try await worker.run() }
        _ = try await wait(log, "/livez", for: 200)
        let alone = try await get(log, "/readyz")
        #expect(alone.status == 503 && alone.body.contains("\(address)"), "\(alone)")
        for path in ["/leader", "/standby", "/status.json"] {
            let answer = try await get(log, path)
            #expect(answer.status == 404 && answer.body == "this node is no reducer\n", "\(path)")
        }

        var reducerConfiguration = ReducerNodeConfiguration(
            bind: try BindAddress(address), journal: .memory, log: .silent)
        reducerConfiguration.machine.silenceLimit = .milliseconds(300)
        let node = try ReducerNode(Jobs(ends: false), configuration: reducerConfiguration)
        let reducer = Task { try await node.run() }
        _ = try await wait(log, "/readyz", for: 200)
        let remote = try RemoteLoop(Jobs.self, reducer: address, log: .silent)
        _ = try await remote.sendAndConfirm(.add(5))
        let done = #"loop_peer_attempts_total{feedback="square",outcome="completed"} 5"#
        let measured = #"loop_effect_run_seconds_count{feedback="square"} 5"#
        // Five events, and the ends of their effects unless these were cancelled before.
        func sendsCount(_ lines: Set<Substring>) -> Int {
            let line = lines.first { $0.hasPrefix("loop_send_seconds_count ") }
            return line.flatMap { Int($0.split(separator: " ")[1]) } ?? 0
        }
        var lines: Set<Substring> = []
        while !lines.isSuperset(of: [Substring(done), Substring(measured)]) || sendsCount(lines) < 5 {
            try await Task.sleep(for: .milliseconds(10))
            lines = try await metrics(log)
        }
        #expect(lines.isSuperset(of: ["loop_peer_capacity 16", "loop_ready 1"]))
        #expect(names(lines).subtracting(try described()) == [] && names(lines).count >= 8)
        await remote.close()
        node.stop()
        _ = try await reducer.value
        _ = try await wait(log, "/readyz", for: 503)
        #expect(try await metrics(log).contains(#"loop_peer_contact_lost_total{reason="silence"} 1"#))
        worker.stop()
        _ = try await run.value
    }

    @Test func `of a leader counts how long effects waited, and how attempts ended`() async throws {
        struct Bad: Error {}
        let reducer = try Reducer()
        _ = try await wait(reducer.log, "/readyz", for: 200)
        let remote = try RemoteLoop(Jobs.self, reducer: reducer.address, log: .silent)
        _ = try await remote.sendAndConfirm(.add(3))
        let failures = Locked(0)
        let jobs = Jobs(ends: false) { job in
            let fails = failures.withLock { failures in
                defer { failures += 1 }
                return failures == 0
            }
            if fails { throw Bad() }
            return job
        }
        let worker = try EffectNode(
            jobs, configuration: EffectNodeConfiguration(reducer: reducer.address, name: "w", log: .silent))
        let run = Task { try await worker.run() }
        let wanted: Set<Substring> = [
            #"loop_effect_attempts_total{feedback="square",outcome="completed"} 2"#,
            #"loop_effect_attempts_total{feedback="square",outcome="failed"} 1"#,
            #"loop_effects{feedback="square",group="default",state="parked",reason="failed"} 1"#,
            #"loop_effect_wait_seconds_count{feedback="square"} 3"#,
        ]
        while try await !metrics(reducer.log).isSuperset(of: wanted) { try await Task.sleep(for: .milliseconds(10)) }
        worker.stop()
        _ = try await run.value
        await remote.close()
        await reducer.stop()
    }

    /// Its events take at least 2 ms each.
    private struct Slow: LoopDefinition {
        static let name = "slow"
        let initial = 0
        var feedbacks: [Feedback<Int, Int>] { [] }
        func reduce(into state: inout Int, _ event: Int, _: Transition) {
            usleep(2000)
            state += event
        }
    }

    @Test func `of a leader estimates a takeover once it has replayed records, and not before`() async throws {
        let folder = TestFolder()
        func member(_ log: LogCollector) throws -> (ReducerNode<Slow>, ReducerAddress) {
            let address = ipcAddress()
            var configuration = ReducerNodeConfiguration(
                bind: try BindAddress(address), journal: .file("\(folder.path)/slow.journal"), log: log.handler)
            configuration.health = try HealthEndpoint("127.0.0.1:0")
            return (try ReducerNode(Slow(), configuration: configuration), address)
        }
        let (log, again) = (LogCollector(), LogCollector())
        let (first, address) = try member(log)
        let run = Task { try await first.run() }
        _ = try await wait(log, "/leader", for: 200)
        let remote = try RemoteLoop(Slow.self, reducer: address, log: .silent)
        for _ in 0..<100 { _ = try await remote.sendAndConfirm(1) }
        let before = try await metrics(log)
        #expect(!before.contains { $0.hasPrefix("loop_takeover_estimate_seconds") || $0.hasPrefix("loop_state_bytes") })
        // It writes no snapshot.
        first.kill()
        _ = try? await run.value
        await remote.close()

        let (second, _) = try member(again)
        let rerun = Task { try await second.run() }
        _ = try await wait(again, "/leader", for: 200)
        let estimates = try await metrics(again).filter { $0.hasPrefix("loop_takeover_estimate_seconds ") }
        let estimate = try #require(estimates.first.flatMap { Double($0.split(separator: " ")[1]) })
        #expect(estimate >= 0.15 && estimate.isFinite, "the 100 events alone take 0.2 s")
        second.stop()
        _ = try await rerun.value
        // It has written a snapshot at its end.
        let third = LogCollector()
        let (last, lastAddress) = try member(third)
        let lastRun = Task { try await last.run() }
        _ = try await wait(third, "/leader", for: 200)
        let sender = try RemoteLoop(Slow.self, reducer: lastAddress, log: .silent)
        _ = try await sender.sendAndConfirm(1)
        #expect(try await metrics(third).contains { $0.hasPrefix("loop_state_bytes ") && !$0.hasSuffix(" 0") })
        await sender.close()
        last.stop()
        _ = try await lastRun.value
    }

    @Test func `of a handle on a remote loop is shown too`() async throws {
        let reducer = try Reducer()
        let log = LogCollector()
        let remote = try RemoteLoop(
            Jobs.self, reducer: reducer.address, health: HealthEndpoint("127.0.0.1:0"), log: log.handler)
        _ = try await wait(log, "/readyz", for: 200)
        #expect(try await metrics(log).contains(#"loop_peer_info{loop="jobs"} 1"#))
        await remote.close()
        await reducer.stop()
    }

    @Test func `is shown for paths that there are, by methods that read, and under this machine's names`() async throws
    {
        let reducer = try Reducer()
        let missing = try await get(reducer.log, "/metric")
        #expect(missing.status == 404)
        #expect(
            missing.body
                == "there is no /metric; there are /livez, /readyz, /leader, /standby, /status.json, /metrics\n")
        let posted = try await get(reducer.log, "/metrics", method: "DELETE")
        #expect(posted.status == 405 && posted.headers["allow"] == "GET, HEAD")
        let port = try await port(reducer.log)
        let connection = try Connection(port: port)
        connection.send("GET /status.json HTTP/1.1\r\nHost: evil.example\r\n\r\n")
        #expect(connection.receive().status == 421)
        await reducer.stop()
    }

    /// More than may be open at once.
    @Test func `is shown although others hold connections on which nothing comes`() async throws {
        let reducer = try Reducer()
        _ = try await wait(reducer.log, "/readyz", for: 200)
        let port = try await port(reducer.log)
        let idle = try (0..<300).map { _ in
            let connection = try Connection(port: port)
            connection.send("G")
            return connection
        }
        let began = ContinuousClock.now
        #expect(try await get(reducer.log, "/readyz").status == 200)
        // Idle connections are closed after 5 s, and not after a minute.
        #expect(began.duration(to: .now) < .seconds(30) && idle.count == 300)
        await reducer.stop()
    }

    @Test func `is shown to those who have the token, if it needs one`() async throws {
        let folder = TestFolder()
        folder.write("token", " 0123456789abcdef\t\nsecond line\n")
        let endpoint = try HealthEndpoint("127.0.0.1:0", tokenFile: "\(folder.path)/token")
        let reducer = try Reducer { $0.health = endpoint }
        for header in ["", "Authorization: Bearer 0123456789abcdeF\r\n", "Authorization: Bearer 0\r\n"] {
            let answer = try await get(reducer.log, "/livez", headers: header)
            #expect(answer.status == 401 && answer.headers["www-authenticate"] == "Bearer")
        }
        for scheme in ["Bearer", "bearer"] {
            let answer = try await get(reducer.log, "/livez", headers: "Authorization: \(scheme) 0123456789abcdef\r\n")
            #expect(answer.status == 200)
        }
        await reducer.stop()
    }

    @Test func `needs no key of a reducer that has keys`() async throws {
        let folder = TestFolder()
        let reducer = try Reducer { configuration in
            let keys = KeyFolder("\(folder.path)/keys")
            _ = try keys.issue(NewKey(name: #require(KeyName("main")), roles: [.reducer])) { try KeyPair() }
            configuration.keys = keys
        }
        #expect(try await wait(reducer.log, "/readyz", for: 200).body.hasPrefix("it leads"))
        await reducer.stop()
    }

    @Test(arguments: [
        ("9710", "is not an address for HTTP"), ("127.0.0.1:", "is not an address for HTTP"),
        ("::1:9710", "is not an address for HTTP"), ("127.0.0.1:99999", "is not an address for HTTP"),
        ("[::1:9710", "is not an address for HTTP"),
        (":9710", "is not an address for HTTP"), ("0.0.0.0:9710", "--http-token FILE"),
        ("[::]:9710", "--http-token FILE"),
        ("example.org:80", "--http-token FILE"),
    ])
    func `is refused at an address that cannot be, or that is open to others`(text: String, why: String) {
        let error = #expect(throws: NodeError.self) { try HealthEndpoint(text) }
        #expect(error?.description.contains(why) == true, "\(error.map(String.init(describing:)) ?? "")")
    }

    @Test func `is refused with a token that is missing or short`() throws {
        let folder = TestFolder()
        folder.write("short", "abc\n")
        folder.write("blank", "abcdefgh abcdefgh\n")
        folder.write("mark", "\u{feff}0123456789abcdef\n")
        #expect(mkfifo("\(folder.path)/pipe", 0o600) == 0)
        let flaws = [
            ("none", "could not be read"), ("short", "openssl rand -hex 32"), ("blank", "no spaces"),
            ("mark", "visible characters of ASCII"), ("pipe", "no regular file"),
        ]
        for (file, why) in flaws {
            let endpoint = try HealthEndpoint("0.0.0.0:0", tokenFile: "\(folder.path)/\(file)")
            let error = #expect(throws: NodeError.self) { try endpoint.token() }
            #expect(error?.description.contains(why) == true)
        }
        #expect(try HealthEndpoint("[::1]:9710").description == "[::1]:9710")
    }
}
