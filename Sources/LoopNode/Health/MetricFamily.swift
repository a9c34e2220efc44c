import LoopCluster

/// A metric with all its samples.
struct MetricFamily: Sendable {
    enum Kind: String, Sendable {
        case gauge, counter, histogram
    }

    struct Sample: Sendable {
        var labels: [(String, String)] = []
        var value: Double
        /// What follows the name: `_bucket`, `_sum` or `_count` of a histogram.
        var suffix = ""
    }

    /// The name without `_total`.
    var name: String
    var kind: Kind
    /// One sentence for people.
    var help: String
    var samples: [Sample]

    static func gauge(_ name: String, _ help: String, _ value: Double?) -> MetricFamily {
        MetricFamily(name: name, kind: .gauge, help: help, samples: value.map { [Sample(value: $0)] } ?? [])
    }

    static func counter(_ name: String, _ help: String, _ value: UInt64) -> MetricFamily {
        MetricFamily(name: name, kind: .counter, help: help, samples: [Sample(value: Double(value))])
    }

    /// A family with one label.
    static func each(
        _ kind: Kind, _ name: String, _ help: String, by label: String, _ values: [(String, Double)]
    ) -> MetricFamily {
        MetricFamily(
            name: name, kind: kind, help: help,
            samples: values.map { Sample(labels: [(label, $0.0)], value: $0.1) })
    }

    static func histogram(_ name: String, _ help: String, _ histogram: Histogram) -> MetricFamily {
        MetricFamily(name: name, kind: .histogram, help: help, samples: histogram.samples(of: []))
    }

    /// A family of histograms with one label.
    static func histograms(
        _ name: String, _ help: String, by label: String, _ histograms: [String: Histogram]
    ) -> MetricFamily {
        MetricFamily(
            name: name, kind: .histogram, help: help,
            samples: histograms.sorted { $0.key < $1.key }.flatMap { $0.value.samples(of: [(label, $0.key)]) })
    }
}

extension Histogram {
    /// - Parameter labels: what tells this histogram from others of its family.
    func samples(of labels: [(String, String)]) -> [MetricFamily.Sample] {
        var total = 0.0
        var samples: [MetricFamily.Sample] = []
        for (bound, count) in zip(Self.bounds.map { MetricsText.number($0) } + ["+Inf"], counts) {
            total += Double(count)
            samples.append(MetricFamily.Sample(labels: labels + [("le", bound)], value: total, suffix: "_bucket"))
        }
        samples.append(MetricFamily.Sample(labels: labels, value: sum, suffix: "_sum"))
        samples.append(MetricFamily.Sample(labels: labels, value: total, suffix: "_count"))
        return samples
    }
}

/// The text formats of Prometheus (version 0.0.4) and OpenMetrics (version 1.0.0).
enum MetricsText {
    static func contentType(isOpenMetrics: Bool) -> String {
        isOpenMetrics
            ? "application/openmetrics-text; version=1.0.0; charset=utf-8" : "text/plain; version=0.0.4; charset=utf-8"
    }

    /// Families without a sample are left out.
    static func text(_ families: [MetricFamily], isOpenMetrics: Bool) -> String {
        var text = ""
        for family in families where !family.samples.isEmpty {
            let total = family.kind == .counter ? "_total" : ""
            let name = isOpenMetrics ? family.name : family.name + total
            text +=
                "# HELP \(name) \(escaped(family.help, quotes: isOpenMetrics))\n# TYPE \(name) \(family.kind.rawValue)\n"
            for sample in family.samples {
                text += family.name + total + sample.suffix
                if !sample.labels.isEmpty {
                    let labels = sample.labels.map { "\($0.0)=\"\(escaped($0.1, quotes: true))\"" }
                    text += "{\(labels.joined(separator: ","))}"
                }
                text += " \(number(sample.value))\n"
            }
        }
        return isOpenMetrics ? text + "# EOF\n" : text
    }

    /// Numbers without a fraction have no point.
    static func number(_ value: Double) -> String {
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        if value.isNaN { return "NaN" }
        return Int64(exactly: value).map { "\($0)" } ?? "\(value)"
    }

    private static func escaped(_ text: String, quotes: Bool) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": escaped += "\\\\"
            case "\n": escaped += "\\n"
            case "\"" where quotes: escaped += "\\\""
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
