package import LoopWire

/// Writes what a replay of a whole journal found, for people or as a JSON document.
package struct VerifyPrinter: Sendable {
    private let isJSON: Bool

    package init(isJSON: Bool) { self.isJSON = isJSON }

    /// Returns one or two lines, without the last newline.
    package func text(for report: VerifyReport) -> String {
        if isJSON {
            return JSONText.object([
                ("from", "\(report.from)"), ("through", "\(report.through)"), ("records", "\(report.records)"),
                ("snapshots", "\(report.snapshots)"), ("stateHashes", "\(report.stateHashes)"),
                ("difference", report.difference.map(JSONText.quoted) ?? "null"),
            ])
        }
        let snapshots = Self.count(report.snapshots, "snapshot", "snapshots")
        let hashes = Self.count(report.stateHashes, "state hash", "state hashes")
        let replayed =
            "replayed seq \(report.from) to \(report.through), \(Self.count(report.records, "record", "records"))"
        if let difference = report.difference {
            return "\(replayed), compared with \(snapshots) and \(hashes)\n\(difference)"
        }
        if report.snapshots == 0, report.stateHashes == 0 {
            return "\(replayed); there was no snapshot and no state hash to compare with"
        }
        return "\(replayed); the same as \(snapshots) and \(hashes)"
    }

    private static func count(_ number: some BinaryInteger, _ one: String, _ many: String) -> String {
        number == 1 ? "1 \(one)" : "\(number) \(many)"
    }
}
