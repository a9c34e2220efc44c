import Testing

@testable import LoopKeys

@Suite struct `A certificate` {
    private typealias Flaw = CertificateError.Flaw
    private let key = Examples.client.publicKey

    @Test func `is written as ZeroMQ's programs write it`() throws {
        let certificate = try Certificate(
            name: "thumbnails-1", roles: [.sender, .worker], groups: .named(["video", "images"]),
            created: "2026-11-23T22:10:04.120Z", publicKey: key)
        let metadata = """
            metadata
                name = "thumbnails-1"
                roles = "worker, sender"
                groups = "images, video"
                created = "2026-11-23T22:10:04.120Z"
            curve
                public-key = "Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID"

            """
        #expect(
            certificate.text == """
                #   ZeroMQ CURVE Public Certificate
                #   Whoever relies on it must have it from its owner, by a way on which others cannot change it.


                """ + metadata)
        #expect(
            SecretCertificate(certificate, secretKey: Examples.client.secretKey).text == """
                #   ZeroMQ CURVE **Secret** Certificate
                #   DO NOT PROVIDE THIS FILE TO OTHER USERS nor change its permissions.


                """ + metadata + """
                        secret-key = "D:)Q[IlAW!ahhC2ac:9*A}h:p?([4%wOTJ%JR%cs"

                    """)
    }

    @Test func `of CZMQ is read`() throws {
        let certificate = try Certificate(reading: Examples.czmqPublic)
        #expect(certificate == (try Certificate(name: "Pieter Hintjens", publicKey: key)))
        let secret = try SecretCertificate(reading: Examples.czmqSecret)
        #expect(secret.certificate == certificate)
        #expect(secret.secretKey.bytes == Examples.client.secretKey.bytes)
    }

    @Test(arguments: [
        "curve\n    public-key = 'Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID'",
        "curve\n    public-key=Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID",
        "curve # keys\r\n    public-key\t=  Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID  # mine\r\n",
        "other\n    public-key = \"x\"\n        deep = 'er'\n  # text\n\n \t\ncurve\n    public-key = "
            + "\"Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID\"\n        deeper = 1\n    x = 2",
    ])
    func `is read in every form that the format has`(text: String) throws {
        #expect(try Certificate(reading: text) == (try Certificate(publicKey: key)))
    }

    @Test func `is read as it was written, whatever its texts are`() throws {
        let names = [
            nil, "a", "Pieter Hintjens", "it's # no = comment", "  ünïcode 名 ", String(repeating: "n", count: 128),
        ]
        let groups: [WorkerGroups] = [
            .none, .all, .named(["a"]), .named(["b c", "d'#e", "ö"]), .named(Set((1...64).map { "group \($0)" })),
        ]
        for name in names {
            for groups in groups {
                for roles: Set<Role> in [[], [.admin], Set(Role.allCases)] {
                    let certificate = try Certificate(
                        name: name, roles: roles, groups: groups, created: name, publicKey: key)
                    #expect(try Certificate(reading: certificate.text) == certificate)
                    let secret = SecretCertificate(certificate, secretKey: Examples.client.secretKey)
                    let read = try SecretCertificate(reading: secret.text)
                    #expect(read.certificate == certificate)
                    #expect(read.secretKey.bytes == secret.secretKey.bytes)
                }
            }
        }
    }

    @Test func `holds no text that does not print or is long`() {
        let texts: [(String, Flaw)] = [
            ("", .empty(.name)), (String(repeating: "ü", count: 65), .long(.name, bytesMax: 128)),
            ("a\"b", .unprintable(.name)), ("a\nb", .unprintable(.name)), ("a\u{1B}[31m", .unprintable(.name)),
            ("a\0", .unprintable(.name)), ("a\u{202E}b", .unprintable(.name)), ("a\u{2028}", .unprintable(.name)),
            ("a\u{7F}", .unprintable(.name)), ("a\u{9B}", .unprintable(.name)),
        ]
        for (name, flaw) in texts {
            let error = #expect(throws: CertificateError.self) { try Certificate(name: name, publicKey: key) }
            #expect(error?.flaw == flaw, "\(name.debugDescription)")
            #expect(throws: CertificateError.self) { try Certificate(created: name, publicKey: key) }
        }
        let groups: [(Set<String>, Flaw)] = [
            ([""], .empty(.groups)), (["*"], .allAndOthers), (["a,b"], .unprintable(.groups)),
            ([" a"], .unprintable(.groups)), (["a "], .unprintable(.groups)), (["\t"], .unprintable(.groups)),
            (Set((1...65).map { "\($0)" }), .many(.groups, countMax: 64)),
            (Set((1...8).map { String(repeating: "\($0)", count: 120) }), .long(.groups, bytesMax: 900)),
        ]
        for (names, flaw) in groups {
            let error = #expect(throws: CertificateError.self) {
                try Certificate(groups: .named(names), publicKey: key)
            }
            #expect(error?.flaw == flaw, "\(names)")
        }
    }

    @Test(arguments: [
        ("", "public-key is missing; copy the file again, or make a new one: loopctl keygen"),
        (
            "curve\n    public-key",
            "line 2: public-key has 0 characters instead of 40; copy the file again, and put the key "
                + "into quotation marks"
        ),
        (
            "curve\n    public-key = ab#cd",
            "line 2: public-key has 2 characters instead of 40; copy the file again, and put "
                + "the key into quotation marks"
        ),
        (
            "curve\n    public-key = '0000000000000000000000000000000000000000'",
            "line 2: public-key is all zeros, which is no key; copy the file again, and put the key into quotation marks"
        ),
        ("curve\n    public-key = \"a", "line 2: the quotation mark is not closed; close it"),
        (
            "curve\n    public-key = \"a\" b",
            #"line 2: a line is a section, or a field as in: name = "value"; correct it"#
        ),
        ("curve\n    public-key : a", #"line 2: a line is a section, or a field as in: name = "value"; correct it"#),
        ("= a", #"line 1: a line is a section, or a field as in: name = "value"; correct it"#),
        (
            "curve\n  public-key = a",
            "line 2: a line is indented by four spaces, below the section that it belongs to; correct the spaces"
        ),
        (
            "curve\n\tpublic-key = a",
            "line 2: a line is indented by four spaces, below the section that it belongs to; correct the spaces"
        ),
        (
            "curve\n        public-key = a",
            "line 2: a line is indented by four spaces, below the section that it belongs to; correct the spaces"
        ),
        (
            "    public-key = a",
            "line 1: a line is indented by four spaces, below the section that it belongs to; correct the spaces"
        ),
        ("curve\ncurve", "line 2: curve is there twice; remove one of them"),
        ("metadata\n    x = 1\n    x = 2", "line 3: a field is there twice; remove one of them"),
        ("metadata\n    name = a\n    name = a", "line 3: name is there twice; remove one of them"),
        ("curve\n    public-key = a\n    public-key = a", "line 3: public-key is there twice; remove one of them"),
        ("metadata\n    name = \"\"\n", "line 2: name has no value; give it one, or remove the line"),
        ("metadata\n    roles = \"worker,\"\n", "line 2: roles has no value; give it one, or remove the line"),
        (
            "metadata\n    roles = \"boss\"\n",
            "line 2: 'boss' is no role; a role is worker, observer, sender, admin or reducer"
        ),
        ("metadata\n    groups = \"*, a\"\n", "line 2: groups are names or *, and not both; remove one of them"),
        ("# \u{1B}[2J", "line 1: there is a control character; remove it, or copy the file again"),
        ("a\0b", "line 1: there is a control character; remove it, or copy the file again"),
        ("a\rb", "line 1: there is a control character; remove it, or copy the file again"),
        ("# " + String(repeating: "x", count: 1024), "line 1: the line has more than 1024 bytes; shorten it"),
    ])
    func `that is none is answered with the line, what is wrong, and what to do`(text: String, line: String) {
        // What is wrong with the metadata is found where the key is right.
        let key = "\ncurve\n    public-key = \"\(key)\""
        let text = text.hasPrefix("metadata\n") ? text + key : text
        let error = #expect(throws: CertificateError.self) { try Certificate(reading: text) }
        #expect(error?.description == line)
    }

    @Test func `is a text of a size that people write`() {
        let large = [UInt8](repeating: UInt8(ascii: "\n"), count: 64 << 10)
        #expect(throws: CertificateError(.missing(.publicKey))) { try Certificate(reading: large) }
        #expect(throws: CertificateError(.tooLarge(bytesMax: 64 << 10))) { try Certificate(reading: large + [10]) }
        #expect(throws: CertificateError(.notText)) { try Certificate(reading: [0xFF, 0xFE, 0x00]) }
    }

    @Test func `for others holds no secret key, and a secret one does`() {
        #expect(throws: CertificateError(.secretInPublic, line: 9)) {
            try Certificate(reading: Examples.czmqSecret)
        }
        #expect(throws: CertificateError(.missing(.secretKey))) {
            try SecretCertificate(reading: Examples.czmqPublic)
        }
    }
}
