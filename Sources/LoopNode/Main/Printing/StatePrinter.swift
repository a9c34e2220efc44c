/// Writes the state after a transition, for people or as a JSON document.
package struct StatePrinter: Sendable {
    private let isJSON: Bool

    package init(isJSON: Bool) { self.isJSON = isJSON }

    /// Returns `{"seq":9,"state":{…}}` as JSON. For people: the seq, then the state as indented JSON.
    package func text(seq: UInt64, state: [UInt8]) -> String {
        let document = JSONText.document(state)
        if isJSON { return JSONText.object([("seq", "\(seq)"), ("state", document)]) }
        return "seq \(seq)\n\(JSONText.indented(document))"
    }
}
