import Foundation
import LoopCollections
import Testing

@testable import LoopNode

/// What docs/services.md uses of swift-metrics, which is no part of this project.
private struct Gauge {
    static let recorded = Locked<[String]>([])

    let label: String
    let dimensions: [(String, String)]

    func record(_ value: Double) {
        let text = "\(label) \(dimensions.map { "\($0)=\($1)" }) \(value)"
        Self.recorded.withLock { $0.append(text) }
    }
}

/// A node's page of metrics, without its server.
private struct URLSession {
    static let shared = URLSession()

    func data(from page: URL) async throws -> (Data, Int) {
        let families: [MetricFamily] = [
            .gauge("loop_up", "Whether the node's thread answers.", 1),
            .each(.counter, "loop_dropped", "Messages.", by: "reason", [("a", 2.5), ("b {c}, d", 0)]),
        ]
        return (Data(MetricsText.text(families, isOpenMetrics: page.path != "/metrics").utf8), 200)
    }
}

private func recordMetrics(of node: URL) async throws {
    let (text, _) = try await URLSession.shared.data(from: node.appending(path: "metrics"))
    for line in String(decoding: text, as: UTF8.self).split(separator: "\n") {
        guard let sample = try /(\w+)(?:{(.*)})? (\S+)/.wholeMatch(in: line), let value = Double(sample.3) else {
            continue
        }
        let labels = (sample.2 ?? "").matches(of: /(\w+)="(.*?)"/).map { (String($0.1), String($0.2)) }
        Gauge(label: String(sample.1), dimensions: labels).record(value)
    }
}

@Suite struct `Metrics that go to swift-metrics` {
    @Test func `have the name, the labels and the value of each sample`() async throws {
        try await recordMetrics(of: try #require(URL(string: "http://127.0.0.1:9710")))
        #expect(
            Gauge.recorded.withLock { $0 } == [
                #"loop_up [] 1.0"#, #"loop_dropped_total ["reason=a"] 2.5"#,
                #"loop_dropped_total ["reason=b {c}, d"] 0.0"#,
            ])
    }
}
