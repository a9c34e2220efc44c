import Testing
import ZMQ

@Suite struct `G12 keys of CURVE` {
    /// From the manual of libzmq (zmq_curve).
    private static let pairs = [
        ("Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID", "D:)Q[IlAW!ahhC2ac:9*A}h:p?([4%wOTJ%JR%cs"),
        ("rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7", "JTKVSB%%)wK0E.X)V>+}o?pNmC{O&4W4b!Ni{Lh6"),
    ]

    @Test func `have the text of the RFC`() throws {
        let vector: [UInt8] = [0x86, 0x4F, 0xD2, 0x6F, 0xB5, 0x59, 0xF7, 0x5B]
        let bytes = vector + vector + vector + vector
        let text = String(repeating: "HelloWorld", count: 4)
        #expect(try CurvePublicKey(bytes: bytes).description == text)
        #expect(try CurvePublicKey(text).bytes == bytes)
        #expect(try CurveSecretKey(bytes: bytes).secretText == text)
        #expect(try CurveSecretKey(text).secretBytes == bytes)
    }

    @Test(arguments: [UInt8(0), 1, 0x7F, 0x80, 0xFF]) func `survive the way into a text and back`(byte: UInt8) throws {
        for place in 0..<32 {
            var bytes = [UInt8](repeating: 0, count: 32)
            bytes[place] = byte
            #expect(try CurvePublicKey(CurvePublicKey(bytes: bytes).description).bytes == bytes)
        }
    }

    @Test(arguments: pairs) func `belong together as the manual of libzmq says`(known: (String, String)) throws {
        let pair = try CurveKeyPair(of: CurveSecretKey(known.1))
        #expect(pair.publicKey.description == known.0)
        #expect(pair.secretKey.secretText == known.1)
    }

    @Test func `are new in each pair, and the public one follows from the secret one`() throws {
        #expect(CurveKeyPair.isSupported)
        let pairs = try (0..<100).map { _ in try CurveKeyPair() }
        #expect(Set(pairs.map(\.publicKey)).count == 100)
        for pair in pairs { #expect(try CurveKeyPair(of: pair.secretKey) == pair) }
    }

    @Test(arguments: [
        ("", "a key has 40 characters, this one has 0"),
        (String(repeating: "0", count: 39), "a key has 40 characters, this one has 39"),
        (String(repeating: "0", count: 41), "a key has 40 characters, this one has 41"),
        (String(repeating: "0", count: 38) + "é0", "character 39 cannot be in a key; a key has 40 characters of Z85"),
        (String(repeating: "0", count: 39) + "\n", "character 40 cannot be in a key; a key has 40 characters of Z85"),
        ("\"" + String(repeating: "0", count: 39), "character 1 cannot be in a key; a key has 40 characters of Z85"),
        (String(repeating: "#", count: 40), "no key has these 40 characters; a character was changed"),
    ])
    func `that are none are refused in a line that does not repeat them`(text: String, line: String) throws {
        #expect(try #require(throws: CurveKeyError.self) { try CurvePublicKey(text) }.description == line)
        #expect(try #require(throws: CurveKeyError.self) { try CurveSecretKey(text) }.description == line)
    }

    @Test(arguments: [0, 31, 33]) func `have 32 bytes`(count: Int) {
        let bytes = [UInt8](repeating: 1, count: count)
        #expect(throws: CurveKeyError.byteCount(count)) { try CurvePublicKey(bytes: bytes) }
        #expect(throws: CurveKeyError.byteCount(count)) { try CurveSecretKey(bytes: bytes) }
    }

    @Test func `that are secret are not shown by what prints or dumps them`() throws {
        let secret = try CurveKeyPair().secretKey
        var dumped = ""
        dump(secret, to: &dumped)
        #expect(dumped == "- a secret key\n")
        #expect("\(secret)" == "a secret key" && String(reflecting: secret) == "a secret key")
        #expect("\([secret])" == "[a secret key]")
    }

    @Test func `need a libzmq with CURVE, as the error says`() {
        let line = ZMQError(.makeKeys, code: 95).description
        #expect(line.contains("built without CURVE"), "\(line)")
    }
}
