/// The answer to a ``ZAPRequest``, as libzmq reads it (ZeroMQ RFC 27).
struct ZAPAnswer: Error, Equatable {
    enum Status: String {
        case admitted = "200"
        case later = "300"
        case refused = "400"
        case failed = "500"
    }

    static let version = Array("1.0".utf8)

    var requestID: [UInt8]
    var status: Status
    /// A text for people. Its first 255 bytes are sent.
    var text: String
    /// The `User-Id` of the connection's messages. It is empty unless the connection is admitted.
    var userID = ""
    /// Further properties of the connection's messages, which the authenticator names.
    var properties: [String: String] = [:]

    init(requestID: [UInt8], status: Status, text: String) {
        self.requestID = requestID
        self.status = status
        self.text = text
    }

    /// Calls the authenticator, and makes an answer of its verdict or its error.
    init(to frames: [[UInt8]], by authenticator: ZAPAuthenticator) {
        let request: ZAPRequest
        switch ZAPRequest.parse(frames) {
        case .failure(let answer):
            self = answer
            return
        case .success(let parsed): request = parsed
        }
        do {
            self.init(to: request, try authenticator(request))
        } catch {
            self.init(requestID: request.requestID, status: .failed, text: "the authenticator failed: \(error)")
        }
    }

    private init(to request: ZAPRequest, _ verdict: ZAPVerdict) {
        switch verdict {
        case .admit(let properties):
            if let property = properties.first(where: { !Self.isProperty($0.key, $0.value) }) {
                self.init(requestID: request.requestID, status: .failed, text: "no property: \(property.key)")
            } else {
                self.init(requestID: request.requestID, status: .admitted, text: "admitted")
                userID = request.key.description
                self.properties = properties
            }
        case .refuse: self.init(requestID: request.requestID, status: .refused, text: "the key is not allowed")
        case .later: self.init(requestID: request.requestID, status: .later, text: "ask again later")
        }
    }

    /// The frames: version, request ID, status, text, user ID, metadata.
    var frames: [[UInt8]] {
        [
            Self.version, requestID, Array(status.rawValue.utf8), Array(text.utf8.prefix(255)), Array(userID.utf8),
            metadata,
        ]
    }

    /// The properties as ZMTP writes them: each name after its length in 1 byte, each value after its length in 4.
    private var metadata: [UInt8] {
        var bytes: [UInt8] = []
        for (name, value) in properties.sorted(by: { $0.key < $1.key }) {
            bytes.append(UInt8(name.utf8.count))
            bytes += name.utf8
            bytes += [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value.utf8.count >> $0) }
            bytes += value.utf8
        }
        return bytes
    }

    private static func isProperty(_ name: String, _ value: String) -> Bool {
        (3...255).contains(name.utf8.count) && name.hasPrefix("X-") && value.utf8.count <= 65_535
            && name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_.+".contains($0)) }
            && !value.utf8.contains(0)
    }
}
