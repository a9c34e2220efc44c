import LoopCore
import Testing

@testable import LoopKeys
@testable import LoopNode

/// Whatever the bytes of a file are, reading them ends with a certificate or with an error for people.
@Suite struct `Hostile certificates` {
    /// The text with up to four changes: bytes that are flipped, removed, inserted or repeated, lines that change places.
    private static func mutated(_ text: [UInt8], _ random: inout SeededRandom) -> [UInt8] {
        var bytes = text
        for _ in 0...Int.random(in: 0...3, using: &random) where !bytes.isEmpty {
            let place = Int.random(in: 0..<bytes.count, using: &random)
            let end = min(bytes.count, place + Int.random(in: 1...40, using: &random))
            switch Int.random(in: 0...6, using: &random) {
            case 0: bytes[place] ^= 1 << UInt8.random(in: 0...7, using: &random)
            case 1: bytes[place] = UInt8.random(in: 0...255, using: &random)
            case 2: bytes.removeSubrange(place..<end)
            case 3: bytes.insert(contentsOf: bytes[place..<end], at: Int.random(in: 0...bytes.count, using: &random))
            case 4: bytes.insert(contentsOf: "\"'#=, *\n\r\t\u{1B}".utf8.shuffled(using: &random).prefix(2), at: place)
            case 5: bytes = Array(bytes.split(separator: 10).shuffled(using: &random).joined(separator: [10]))
            default: bytes.removeLast(bytes.count - place)
            }
        }
        return bytes
    }

    private static func check(_ error: CertificateError) {
        let text = error.description
        #expect(text.unicodeScalars.allSatisfy(PrintedText.prints), "\(text.debugDescription)")
        #expect(text.utf8.count < 400)
        let secret = Examples.client.secretKey.z85
        for start in secret.indices.dropLast(7) {
            #expect(!text.contains(secret[start...].prefix(8)), "\(text)")
        }
    }

    @Test func `give an error, or a certificate that can be written and read again`() throws {
        var random = SeededRandom(seed: 25)
        let groups = WorkerGroups.named(["images", "video"])
        let certificate = try Certificate(
            name: "w1", roles: [.worker, .observer], groups: groups, created: "2026-11-23",
            publicKey: Examples.client.publicKey)
        let texts = [
            certificate.text, SecretCertificate(certificate, secretKey: Examples.client.secretKey).text,
            Examples.czmqPublic, Examples.czmqSecret,
        ].map { Array($0.utf8) }
        var (readCount, errors) = (0, Set<CertificateError>())
        for index in 0..<8000 {
            let bytes = Self.mutated(texts[index % texts.count], &random)
            do throws(CertificateError) {
                let read = try Certificate(reading: bytes)
                #expect(try Certificate(reading: read.text) == read)
                readCount += 1
            } catch {
                if errors.insert(error).inserted { Self.check(error) }
            }
            do throws(CertificateError) {
                let read = try SecretCertificate(reading: bytes)
                #expect(try SecretCertificate(reading: read.text).certificate == read.certificate)
                readCount += 1
            } catch {
                if errors.insert(error).inserted { Self.check(error) }
            }
        }
        #expect(readCount > 500)
        #expect(errors.count > 100)
    }

    @Test func `of random bytes are none`() {
        var random = SeededRandom(seed: 26)
        for _ in 0..<2000 {
            let count = Int.random(in: 0...300, using: &random)
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            #expect(throws: CertificateError.self) { try Certificate(reading: bytes) }
            #expect(throws: CertificateError.self) { try SecretCertificate(reading: bytes) }
        }
    }

    @Test func `that are cut anywhere are none, but for their last line end`() {
        let bytes = Array(Examples.czmqSecret.utf8)
        for count in 0..<bytes.count - 1 {
            #expect(throws: CertificateError.self) { try SecretCertificate(reading: Array(bytes.prefix(count))) }
        }
    }
}
