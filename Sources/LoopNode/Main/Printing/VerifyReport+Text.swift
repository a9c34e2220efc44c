package import LoopWire

extension VerifyReport {
    /// What a replay of a whole journal found, as one or two lines for people, or as a JSON document, without the last newline.
    package func text(isJSON: Bool) -> String {
        if isJSON {
            return JSONText.object([
                ("from", "\(from)"), ("through", "\(through)"), ("records", "\(records)"),
                ("snapshots", "\(snapshots)"), ("stateHashes", "\(stateHashes)"),
                ("difference", difference.map(JSONText.quoted) ?? "null"),
            ])
        }
        let comparedSnapshots = Self.count(snapshots, "snapshot", "snapshots")
        let hashes = Self.count(stateHashes, "state hash", "state hashes")
        let replayed =
            "replayed seq \(from) to \(through), \(Self.count(records, "record", "records"))"
        if let difference {
            return "\(replayed), compared with \(comparedSnapshots) and \(hashes)\n\(difference)"
        }
        if snapshots == 0, stateHashes == 0 {
            return "\(replayed); there was no snapshot and no state hash to compare with"
        }
        return "\(replayed); the same as \(comparedSnapshots) and \(hashes)"
    }

    private static func count(_ number: some BinaryInteger, _ one: String, _ many: String) -> String {
        number == 1 ? "1 \(one)" : "\(number) \(many)"
    }
}
