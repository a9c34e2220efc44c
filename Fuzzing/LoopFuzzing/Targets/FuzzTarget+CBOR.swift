import CBOR
import LoopWire

extension FuzzTarget {
    /// Documents read as values of many types. What is read, written and read again is the same, and its encoding is the one
    /// that a second writing gives.
    static let cborValues = FuzzTarget("cbor-values") { bytes in
        try checkStable(CBORValue.self, bytes)
        try checkStable(Everything.self, bytes)
        try checkStable(Tree.self, bytes)
        try checkStable([UInt8].self, bytes)
        try checkStable([Int].self, bytes)
        try checkStable([String: [Int?]].self, bytes)
        try checkStable([Int: String].self, bytes)
        try checkStable([Tree: Bool].self, bytes)
        try checkStable(Set<String>.self, bytes)
        try checkStable([Double??].self, bytes)
    }

    /// Documents that nodes send each other.
    static let documents = FuzzTarget("documents") { bytes in
        try checkStable(StatusReport.self, bytes)
        try checkStable(AdministrationRequest.self, bytes)
        try checkStable(AdministrationAnswer.self, bytes)
    }

    /// Documents shown to people. The JSON of a document, read back and shown again, is the same document.
    static let cborText = FuzzTarget("cbor-text", budget: AllocationBudget(perByte: 512)) { bytes in
        let notation = shown { () throws(WireError) in try CBOR.diagnose(bytes) }
        guard let json = shown({ () throws(WireError) in try CBOR.json(bytes) }) else { return }
        try require(notation != nil, "a valid document has no diagnostic notation")
        // Keys that differ only by their type are the same text.
        guard let document = try? CBOR.fromJSON(text: json) else { return }
        try CanonicalForm.check(document)
        try require(try CBOR.fromJSON(text: CBOR.json(document)) == document, "\(json) is another document as JSON")
    }

    /// Text that people and programs type.
    static let json = FuzzTarget("json", budget: AllocationBudget(perByte: 512)) { bytes in
        let text = String(decoding: bytes, as: UTF8.self)
        guard let document = encoded({ () throws(WireError) in try CBOR.fromJSON(text: text) }) else { return }
        try CanonicalForm.check(document)
        let again = try CBOR.json(document)
        try require(try CBOR.fromJSON(text: again) == document, "\(again) is another document")
    }

    /// What a value is written as stays what it is.
    private static func checkStable<Value: Codable>(_ type: Value.Type, _ bytes: [UInt8]) throws {
        let value: Value
        do throws(WireError) {
            value = try CBOR.decode(type, from: bytes)
        } catch {
            try checkBounded(error)
            return
        }
        let once = try CBOR.encode(value)
        try CanonicalForm.check(once)
        let twice = try CBOR.encode(CBOR.decode(type, from: once))
        try require(
            once == twice, "\(type): \(try CBOR.diagnose(once)) is written as \(try CBOR.diagnose(twice)) again")
    }

    private static func shown(_ body: () throws(WireError) -> String) -> String? {
        do { return try body() } catch { return nil }
    }

    private static func encoded(_ body: () throws(WireError) -> [UInt8]) -> [UInt8]? {
        do { return try body() } catch { return nil }
    }
}

/// An error is a line in a log, whatever the bytes.
func checkBounded(_ error: WireError) throws {
    let text = error.description
    try require(text.utf8.count <= 8192, "an error of \(text.utf8.count) bytes: \(text.prefix(200))")
}
