import Foundation
import LoopCollections
import LoopCore
import LoopWire
import Testing
import ZMQ

@testable import Linux
@testable import LoopNode

/// A collector inside the test. It answers with these statuses first, and then with 200.
private final class Collector: HTTPHandler {
    private let statuses: Locked<[Int]>
    private let received = Locked<[(path: String, body: [UInt8])]>([])

    init(_ statuses: Int...) { self.statuses = Locked(statuses) }

    private final class Exchange: HTTPExchange {
        private let collector: Collector
        private let path: String
        private var body: [UInt8] = []

        init(_ collector: Collector, _ path: String) { (self.collector, self.path) = (collector, path) }

        func receive(_ piece: [UInt8]) { body += piece }
        func end() {}

        func answer(_ request: borrowing HTTPRequest) -> HTTPAnswer {
            let status = collector.statuses.withLock { $0.isEmpty ? 200 : $0.removeFirst() }
            let (path, body) = (path, body)
            if status == 200 { collector.received.withLock { $0.append((path, body)) } }
            return .reply(HTTPReply(status: status, body: Array("{}".utf8)))
        }
    }

    func begin(path: String, method: String) -> any HTTPExchange { Exchange(self, path) }

    func serve() throws -> (daemon: HTTPDaemon, port: UInt16) {
        let daemon = try HTTPDaemon(
            host: "127.0.0.1", port: 0, connectionsMax: 8, idleLimit: .seconds(60), handler: self)
        return (daemon, daemon.port)
    }

    var paths: Set<String> { Set(received.withLock { $0.map(\.path) }) }

    /// A span, with its attributes as texts, and the name of its service among them.
    struct Received {
        let name, trace, id: String
        let parent: String?
        let attributes: [String: String]
        let time: ClosedRange<UInt64>
    }

    func spans() throws -> [Received] {
        func attributes(_ of: Any?) -> [String: String] {
            let list = (of as? [String: Any])?["attributes"] as? [[String: Any]] ?? []
            return Dictionary(
                list.map { one in
                    let value = (one["value"] as? [String: Any])?.first?.value
                    return (one["key"] as? String ?? "", value as? String ?? "not a text")
                }, uniquingKeysWith: { $1 })
        }
        return try received.withLock { $0 }.flatMap { (_, body) -> [Received] in
            let document = try JSONSerialization.jsonObject(with: Data(body)) as? [String: Any]
            let resources = document?["resourceSpans"] as? [[String: Any]] ?? []
            return resources.flatMap { resource in
                let service = attributes(resource["resource"])
                let scopes = resource["scopeSpans"] as? [[String: Any]] ?? []
                return scopes.flatMap { $0["spans"] as? [[String: Any]] ?? [] }.compactMap { span -> Received? in
                    guard let began = UInt64(span["startTimeUnixNano"] as? String ?? ""),
                        let ended = UInt64(span["endTimeUnixNano"] as? String ?? ""), began <= ended
                    else { return nil }
                    return Received(
                        name: span["name"] as? String ?? "", trace: span["traceId"] as? String ?? "",
                        id: span["spanId"] as? String ?? "", parent: span["parentSpanId"] as? String,
                        attributes: attributes(span).merging(service) { $1 }, time: began...ended)
                }
            }
        }
    }
}

@Suite(.timeLimit(.minutes(5))) struct `The spans of a node` {
    private let context = TraceContext(traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
    private let log = LogCollector()

    /// Runs a job from its event to the event of its effect, and ends all nodes.
    private func runJob(_ export: TraceExport?, named name: String) async throws {
        let (zmq, address) = (try ZMQContext(), try ReducerAddress(parsing: "inproc://\(name)"))
        var configuration = try ReducerNodeConfiguration.test(address, zmq)
        configuration.traces = export
        let reducer = try ReducerNode(Jobs(), configuration: configuration)
        let run = Task { try await reducer.run() }
        var workers = EffectNodeConfiguration.test(address, zmq, "worker")
        workers.traces = export
        let worker = try EffectNode(Jobs(), configuration: workers)
        let work = Task { try await worker.run() }
        let remote = try RemoteLoop(Jobs.self, reducer: address, traces: export, context: zmq, log: .silent)
        _ = try await remote.sendAndConfirm(.add(1))
        #expect(try await run.value?.text == "sum 0")
        _ = try await work.value
        await remote.close()
    }

    @Test func `lead from a send over its transition and its effect to the next transition`() async throws {
        let collector = Collector()
        let (daemon, port) = try collector.serve()
        let export = try TraceExport("http://127.0.0.1:\(port)/otlp/", share: 1)
        try await TraceContext.$current.withValue(context) { try await runJob(export, named: "traced") }
        #expect(collector.paths == ["/otlp/v1/traces"])
        let spans = try collector.spans()
        #expect(Set(spans.map(\.trace)) == ["0af7651916cd43dd8448eb211c80319c"])
        // On a busy machine the worker may be silent for so long that its effect is granted again.
        let attempts = spans.filter { $0.name == "effect square" }.map { $0.attributes["loop.attempt"] }
        #expect(Set(attempts).count == attempts.count)
        #expect(
            spans.map(\.name).filter { $0 != "effect square" }.sorted()
                == ["apply jobs", "apply jobs", "send jobs", "send jobs"], "\(spans)")
        let sent = try #require(spans.first { $0.parent == "b7ad6b7169203331" })
        let applied = try #require(spans.first { $0.parent == sent.id })
        let answered = try #require(spans.first { $0.name == "send jobs" && $0.id != sent.id })
        let effect = try #require(spans.first { $0.id == answered.parent })
        #expect(effect.parent == applied.id)
        let last = try #require(spans.first { $0.parent == answered.id })
        let way = [sent, applied, effect, answered, last]
        #expect(way.map(\.name) == ["send jobs", "apply jobs", "effect square", "send jobs", "apply jobs"])
        #expect(
            way.map { $0.attributes["service.name"] }
                == ["jobs-client", "jobs-reducer", "jobs-worker", "jobs-worker", "jobs-reducer"])
        #expect(applied.attributes["loop.seq"] == "1" && applied.attributes["loop.event"] == "add")
        #expect(last.attributes["loop.seq"] == "2" && last.attributes["loop.event"] == "squared")
        #expect(
            effect.attributes["loop.effect"] == "0.1.0"
                && ["completed", "stopped"].contains(effect.attributes["loop.outcome"]))
        #expect(effect.attributes["messaging.destination.name"] == "jobs")
        #expect(way.map(\.time.lowerBound) == way.map(\.time.lowerBound).sorted())
        withExtendedLifetime(daemon) {}
    }

    @Test func `are not recorded of events without a context if the share is zero`() async throws {
        let collector = Collector()
        let (daemon, port) = try collector.serve()
        try await runJob(try TraceExport("http://127.0.0.1:\(port)", share: 0), named: "untraced")
        let silent = TraceContext(high: 1, low: 2, span: 3, isSampled: false)
        let all = try TraceExport("http://127.0.0.1:\(port)", share: 1)
        try await TraceContext.$current.withValue(silent) { try await runJob(all, named: "unsampled") }
        // The events of the effect are in no trace, so the worker's share begins one.
        #expect(try collector.spans().map(\.name).sorted() == ["apply jobs", "send jobs"])
        #expect(try collector.spans().allSatisfy { $0.attributes["loop.seq"] != "1" })
        withExtendedLifetime(daemon) {}
    }

    /// A loop whose effect sends its event in a trace that it was given elsewhere, as one that reads a queue does.
    private struct Relay: LoopDefinition {
        static let name = "relay"
        enum Event: Codable, Sendable { case begin, relay }
        let initial = 0
        let context: TraceContext?

        func reduce(into state: inout Int, _ event: Event, _: Transition) { state += 1 }

        var feedbacks: [Feedback<Int, Event>] {
            let context = context
            return [
                .react("relay", request: { $0 == 1 ? $0 : nil }) { _ in
                    .run { send in
                        try await TraceContext.$current.withValue(context) { try await send(.relay) }
                    }
                }
                .on(.workers)
            ]
        }

        func outcome(of state: Int) -> Outcome? { state == 2 ? Outcome(text: "relayed") : nil }
    }

    @Test func `continue the trace in which a body sends, although its effect is in none`() async throws {
        let collector = Collector()
        let (daemon, port) = try collector.serve()
        let export = try TraceExport("http://127.0.0.1:\(port)", share: 0)
        let (zmq, address) = (try ZMQContext(), try ReducerAddress(parsing: "inproc://relay"))
        var configuration = try ReducerNodeConfiguration.test(address, zmq)
        configuration.traces = export
        let reducer = try ReducerNode(Relay(context: context), configuration: configuration)
        let run = Task { try await reducer.run() }
        var workers = EffectNodeConfiguration.test(address, zmq, "worker")
        workers.traces = export
        let worker = try EffectNode(Relay(context: context), configuration: workers)
        let work = Task { try await worker.run() }
        let remote = try RemoteLoop(Relay.self, reducer: address, context: zmq, log: .silent)
        _ = try await remote.sendAndConfirm(.begin)
        _ = try await run.value
        _ = try await work.value
        await remote.close()
        let spans = try collector.spans()
        #expect(spans.map(\.name).sorted() == ["apply relay", "send relay"])
        #expect(spans.contains { $0.name == "send relay" && $0.parent == "b7ad6b7169203331" })
        withExtendedLifetime(daemon) {}
    }

    private func record(_ count: Int, with tracer: Tracer) throws {
        for _ in 0..<count { tracer.endSend(try #require(tracer.beginSend(in: context))) }
    }

    @Test func `are sent again if the collector is busy, and not if it refuses them`() throws {
        for (collector, exported) in [(Collector(503), 3), (Collector(400), 0)] {
            let (daemon, port) = try collector.serve()
            let tracer = Tracer(try TraceExport("http://127.0.0.1:\(port)"), loop: "jobs", role: "client")
            try record(3, with: tracer)
            try tracer.start(NodeLog(name: "client", log.handler))
            while tracer.counts.exported + tracer.counts.dropped < 3 { Thread.sleep(forTimeInterval: 0.005) }
            #expect(tracer.counts.exported == UInt64(exported))
            tracer.stop()
            #expect(try collector.spans().count == exported)
            withExtendedLifetime(daemon) {}
        }
        let texts = log.events.filter { $0.kind == .tracesDropped }.map(\.text)
        #expect(texts.count == 1 && texts[0].contains("3 spans were dropped") && texts[0].contains("the status 400"))
    }

    @Test func `are dropped and counted if no collector answers, and the log says so once`() throws {
        let tracer = Tracer(try TraceExport("http://127.0.0.1:1"), loop: "jobs", role: "client")
        // More than one request has. At the stop, each request is tried once.
        try record(1000, with: tracer)
        try tracer.start(NodeLog(name: "client", log.handler))
        tracer.stop()
        #expect(tracer.counts.exported == 0 && tracer.counts.dropped == 1000)
        let texts = log.events.filter { $0.kind == .tracesDropped }.map(\.text)
        #expect(texts.count == 1 && texts[0].contains("127.0.0.1:1 is not there: nothing listens at this port"))
    }

    /// What listens in place of a collector. It sends a text over each connection, and then ends it or keeps it.
    private final class Impostor: Sendable {
        private let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        private let connections = Locked([Int32]())
        let tracer: Tracer

        init(saying text: String, ends: Bool, _ name: String = "client") throws {
            try Sockets.bind(listener, host: "127.0.0.1", port: 0)
            try #require(listen(listener, 8) == 0)
            tracer = Tracer(
                try TraceExport("http://127.0.0.1:\(Sockets.port(of: listener))"), loop: "jobs", role: name)
            _ = try NodeThread("impostor") { [listener, connections] in
                while let connection = Sockets.accept(listener) {
                    connections.withLock { $0.append(connection) }
                    _ = write(connection, text, text.utf8.count)
                    if ends { _ = shutdown(connection, Int32(SHUT_WR)) }
                }
                close(listener)
            }
        }

        /// Ends the listener and what it has accepted.
        func end() {
            _ = shutdown(listener, Int32(SHUT_RDWR))
            for connection in connections.withLock({ $0 }) { close(connection) }
        }
    }

    /// Records spans, ends the node, and returns what the log then says.
    private func texts(of count: Int, to impostor: Impostor) throws -> [String] {
        let log = LogCollector()
        try record(count, with: impostor.tracer)
        try impostor.tracer.start(NodeLog(name: "client", log.handler))
        impostor.tracer.stop()
        impostor.end()
        return log.events.filter { $0.kind == .tracesDropped }.map(\.text)
    }

    @Test(arguments: [
        ("", "has closed the connection without an answer"), ("SSH-2.0-other", "does not answer by HTTP"),
    ])
    func `are dropped for the reason that there is`(text: String, reason: String) throws {
        let texts = try texts(of: 1, to: try Impostor(saying: text, ends: true))
        #expect(texts.count == 1 && texts[0].contains(reason) && texts[0].hasPrefix("1 span was"), "\(texts)")
    }

    @Test func `that a collector has not taken at the end are dropped and counted, and the log says so`() throws {
        let impostor = try Impostor(saying: "", ends: false)
        let texts = try texts(of: 600, to: impostor)
        #expect(texts.count == 1 && texts[0].contains("600 spans") && texts[0].contains("of the end"), "\(texts)")
        // Those of the request that was on its way count when that has ended.
        #expect([88, 600].contains(impostor.tracer.counts.dropped))
    }

    @Test func `need no more of an answer than its status, if the collector keeps the connection`() throws {
        let impostor = try Impostor(saying: "HTTP/1.1 200 OK\r\n", ends: false)
        #expect(try texts(of: 600, to: impostor) == [])
        #expect(impostor.tracer.counts.exported == 600)
    }

    @Test func `of sends are limited, and what is beyond goes on in the caller's`() throws {
        let tracer = Tracer(try TraceExport("http://127.0.0.1:1", share: 1), loop: "jobs", role: "client")
        for _ in 0..<4096 { #expect(tracer.beginSend(in: context) != context) }
        #expect(tracer.beginSend(in: context) == context)
        #expect(tracer.beginSend(in: nil) == nil)
        #expect(tracer.counts.dropped == 2)
    }

    @Test func `are dropped and counted if more wait than may`() throws {
        let tracer = Tracer(try TraceExport("http://127.0.0.1:1"), loop: "jobs", role: "client")
        try record(5000, with: tracer)
        #expect(tracer.counts.exported == 0 && tracer.counts.dropped == 5000 - 4096)
        let samples = Tracer.metrics(of: tracer).samples
        #expect(samples.map { $0.labels[0].1 } == ["exported", "dropped"] && samples.map(\.value) == [0, 904])
        #expect(Tracer.metrics(of: nil).samples.isEmpty)
    }

    @Test func `end with an error if their event was refused, or if its outcome is unknown at the end`() throws {
        let collector = Collector()
        let (daemon, port) = try collector.serve()
        let tracer = Tracer(try TraceExport("http://127.0.0.1:\(port)"), loop: "jobs", role: "client")
        let refused = try #require(tracer.beginSend(in: context))
        tracer.endSend(refused, refusal: .tooLarge)
        tracer.endSend(refused)
        _ = tracer.beginSend(in: context)
        try tracer.start(NodeLog(name: "client", log.handler))
        tracer.stop()
        #expect(try collector.spans().map { $0.attributes["error.type"] } == ["tooLarge", "unknown"])
        withExtendedLifetime(daemon) {}
    }

    @Test func `begin a trace for the share of events that is asked for`() throws {
        let tracer = Tracer(try TraceExport("http://127.0.0.1:1", share: 0.25), loop: "jobs", role: "client")
        let traces = (0..<4000).compactMap { _ in tracer.beginSend(in: nil) }
        // Twenty standard deviations on each side.
        #expect((450..<1550).contains(traces.count))
        #expect(Set(traces.map(\.traceID)).count == traces.count)
    }

    @Test func `go to an address of HTTP, and a wrong one is refused with a remedy`() throws {
        #expect(try TraceExport("http://collector").authority == "collector:4318")
        #expect(try TraceExport("http://[::1]:99/a/").path == "/a/v1/traces")
        #expect(try TraceExport("http://[::1]:99").authority == "[::1]:99")
        for wrong in [
            "", "collector:4318", "https://collector", "http://", "http://a:0", "http://a:70000", "http://ada:pw@a",
            "http://a b", "http://a/?x", "http://a\r\nX: y", "http://a/\r\nX:y", "http://a/\u{1}", "http://a/é",
        ] {
            #expect(throws: NodeError.self) { try TraceExport(wrong) }
        }
        for share in [-0.1, 1.1, .nan] { #expect(throws: NodeError.self) { try TraceExport("http://a", share: share) } }
    }
}
