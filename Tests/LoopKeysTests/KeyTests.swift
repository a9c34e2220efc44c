import Testing

@testable import LoopKeys

@Suite struct `A key` {
    private let text = "Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID"

    @Test func `is 32 bytes, and 40 characters as text`() throws {
        let key = try PublicKey(z85: text)
        #expect(key.bytes.count == 32)
        #expect(key.bytes.prefix(4) == [0xBB, 0x88, 0x47, 0x1D])
        #expect(key.z85 == text)
        #expect(key == PublicKey(bytes: key.bytes))
        #expect(try SecretKey(z85: text).bytes == key.bytes)
        #expect(try SecretKey(z85: text).z85 == text)
    }

    @Test(arguments: [UInt8(1), 0x7F, 0x80, 0xFF]) func `survives the way into a text and back`(byte: UInt8) throws {
        for place in 0..<32 {
            var bytes = [UInt8](repeating: 0, count: 32)
            bytes[place] = byte
            let key = try #require(PublicKey(bytes: bytes))
            #expect(key.bytes == bytes)
            #expect(try PublicKey(z85: key.z85) == key)
        }
    }

    @Test(arguments: [
        ("", KeyFlaw.length(0)), ("Yne@", .length(4)), ("Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hIDx", .length(41)),
        ("Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hI,", .notZ85), (String(repeating: "#", count: 40), .notZ85),
        (String(repeating: "é", count: 20), .notZ85), (String(repeating: "0", count: 40), .zero),
    ])
    func `is no other text`(text: String, flaw: KeyFlaw) {
        #expect(throws: flaw) { try PublicKey(z85: text) }
        #expect(throws: flaw) { try SecretKey(z85: text) }
    }

    @Test(arguments: [
        [], [UInt8](repeating: 1, count: 31), .init(repeating: 1, count: 33), .init(repeating: 0, count: 32),
    ])
    func `is no other bytes`(bytes: [UInt8]) {
        #expect(PublicKey(bytes: bytes) == nil)
        #expect(SecretKey(bytes: bytes) == nil)
    }

    @Test func `that is secret is shown by no description`() throws {
        let pair = Examples.client
        let certificate = SecretCertificate(try Certificate(publicKey: pair.publicKey), secretKey: pair.secretKey)
        var texts = ["\(pair.secretKey)", String(reflecting: pair.secretKey), "\(pair)", "\(certificate)"]
        texts.append(String(reflecting: certificate))
        for value: Any in [pair.secretKey, pair, certificate] {
            var dumped = ""
            dump(value, to: &dumped)
            texts.append(dumped)
        }
        let firstBytes = pair.secretKey.bytes.prefix(2).map { "\($0)" }
        for text in texts {
            #expect(text.contains("a secret key"))
            #expect(!text.contains(pair.secretKey.z85.prefix(5)))
            #expect(!text.contains(firstBytes.joined(separator: ", ")))
        }
        #expect("\(pair.publicKey)" == pair.publicKey.z85)
    }

    @Test(arguments: ["a", "thumbnails-1", "_x", "9", "a.b", String(repeating: "n", count: 128)])
    func `has a name that names files`(text: String) { #expect(KeyName(text)?.description == text) }

    @Test(arguments: ["", ".", "..", ".a", "-a", "a/b", "a b", "ä", "a\n", "a\0", String(repeating: "n", count: 129)])
    func `has no name that files cannot have`(text: String) { #expect(KeyName(text) == nil) }
}
