import LoopKeys
import Testing

@testable import ZMQ

@Suite struct `G12 questions and answers of the authentication protocol` {
    private static let keyBytes = (0..<32).map { UInt8($0) }
    private static let request = frames("1.0", "7", "loop.router", "127.0.0.1", "", "CURVE") + [keyBytes]

    private struct Broken: Error, CustomStringConvertible {
        let description = String(repeating: "broken ", count: 100)
    }

    private static func frames(_ texts: String...) -> [[UInt8]] { texts.map { [UInt8]($0) } }

    /// The answer as texts, and the request that was asked about.
    private func answer(
        _ frames: [[UInt8]], _ verdict: @escaping @Sendable (ZAPRequest) throws -> ZAPVerdict
    ) -> [String] {
        ZAPAnswer(to: frames, by: verdict).frames.map(\.text)
    }

    @Test func `say who wants to connect where`() throws {
        let key = try #require(PublicKey(bytes: Self.keyBytes))
        #expect(
            try ZAPRequest.parse(Self.request).get()
                == ZAPRequest(domain: "loop.router", key: key, requestID: [UInt8]("7")))
    }

    @Test func `admit with the key as user ID, and with properties in the order of their names`() throws {
        let key = try #require(PublicKey(bytes: Self.keyBytes))
        let frames = ZAPAnswer(to: Self.request) { _ in .admit(properties: ["X-Role": "worker", "X-Group": ""]) }.frames
        #expect(frames.prefix(5).map(\.text) == ["1.0", "7", "200", "admitted", key.description])
        #expect(frames.count == 6)
        let group = [7] + [UInt8]("X-Group") + [0, 0, 0, 0]
        let role = [6] + [UInt8]("X-Role") + [0, 0, 0, 6] + [UInt8]("worker")
        #expect(frames[5] == group + role)
        #expect(answer(Self.request) { _ in .admit() }[5] == "")
    }

    @Test func `refuse, and put off`() {
        #expect(answer(Self.request) { _ in .refuse } == ["1.0", "7", "400", "the key is not allowed", "", ""])
        #expect(answer(Self.request) { _ in .later } == ["1.0", "7", "300", "ask again later", "", ""])
    }

    @Test func `say that the authenticator failed, in 255 bytes`() {
        let frames = answer(Self.request) { _ in throw Broken() }
        #expect(frames[2] == "500" && frames[4] == "" && frames[5] == "")
        #expect(frames[3].hasPrefix("the authenticator failed: broken") && frames[3].utf8.count == 255)
    }

    @Test(arguments: [
        ["X-": "x"], ["User-Id": "x"], ["X-é": "x"], ["X-Role": "a\0b"], ["X Role": "x"], ["": ""],
        ["X-" + String(repeating: "x", count: 254): ""], ["X-Role": String(repeating: "x", count: 65_536)],
        ["X-Role": "worker", "x-role": "admin"],
    ])
    func `admit no peer with properties that cannot be written`(properties: [String: String]) {
        #expect(answer(Self.request) { _ in .admit(properties: properties) }[2] == "500")
    }

    @Test(arguments: [
        ([], "500"), ([0], "500"), ([0, 1], "500"), ([0, 1, 2, 3, 4], "500"), ([0, 1, 2, 3, 4, 5], "500"),
        ([0, 1, 2, 3, 4, 5, 6, 6], "500"), ([1, 1, 2, 3, 4, 5, 6], "500"), ([0, 1, 4, 3, 4, 5, 6], "400"),
        ([0, 1, 2, 3, 4, 3, 6], "400"), ([0, 1, 2, 3, 4, 5, 5], "500"),
    ])
    func `that are malformed are answered without asking`(places: [Int], status: String) {
        let frames = places.map { Self.request[$0] }
        let reply = answer(frames) { _ in
            Issue.record("asked")
            return .admit()
        }
        #expect(reply.count == 6 && reply[2] == status && reply[4] == "" && reply[5] == "")
        #expect(reply[1] == (frames.count > 1 ? frames[1].text : ""))
    }

    @Test(arguments: ["NULL", "PLAIN", "GSSAPI", "curve", "CURVE\0"])
    func `admit no peer by another mechanism`(mechanism: String) {
        var frames = Self.request
        frames[5] = [UInt8](mechanism)
        #expect(answer(frames) { _ in .admit() }[2] == "400")
        #expect(answer(Array(frames.dropLast())) { _ in .admit() }[2] == "400")
    }

    @Test func `take any bytes`() {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<2000 {
            var frames = Self.request
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                let bytes = (0..<Int.random(in: 0...300, using: &generator)).map { _ in
                    UInt8.random(in: 0...255, using: &generator)
                }
                frames[Int.random(in: 0..<7, using: &generator)] = bytes
            }
            #expect(["200", "400", "500"].contains(answer(frames) { _ in .admit() }[2]))
        }
    }
}
