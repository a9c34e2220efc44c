import LoopKeys
import Testing
import ZMQ

@Suite struct `G12 keys of CURVE` {
    /// From the manual of libzmq (zmq_curve).
    private static let pairs = [
        ("Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID", "D:)Q[IlAW!ahhC2ac:9*A}h:p?([4%wOTJ%JR%cs"),
        ("rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7", "JTKVSB%%)wK0E.X)V>+}o?pNmC{O&4W4b!Ni{Lh6"),
    ]

    @Test(arguments: pairs) func `belong together as the manual of libzmq says`(known: (String, String)) throws {
        let pair = try KeyPair(of: SecretKey(z85: known.1))
        #expect(pair.publicKey.z85 == known.0)
        #expect(pair.secretKey.z85 == known.1)
    }

    @Test func `are new in each pair, and the public one follows from the secret one`() throws {
        #expect(KeyPair.isSupported)
        let pairs = try (0..<100).map { _ in try KeyPair() }
        #expect(Set(pairs.map(\.publicKey)).count == 100)
        for pair in pairs { #expect(try KeyPair(of: pair.secretKey).publicKey == pair.publicKey) }
    }

    @Test func `need a libzmq with CURVE, as the error says`() {
        let line = ZMQError(.makeKeys, code: 95).description
        #expect(line.contains("built without CURVE"), "\(line)")
    }
}
