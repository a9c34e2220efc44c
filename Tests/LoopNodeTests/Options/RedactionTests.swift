import Testing

@testable import LoopNode

@Suite struct `Texts about addresses` {
    @Test(arguments: [
        ("postgres://ada:secret@db/loops", "postgres://ada:***@db/loops"),
        ("'http://u:p:q@h/' and 'https://a:b@c'", "'http://u:***@h/' and 'https://a:***@c'"),
        ("postgres://ada@db/loops?password=x&sslmode=on", "postgres://ada@db/loops?password=***&sslmode=on"),
        ("postgres://db/x?sslpassword=y", "postgres://db/x?sslpassword=***"),
        ("--journal cannot be 'host=db password=a.b:c': it", "--journal cannot be 'host=db password=***': it"),
        ("'Password = 'a \\' b' user=ada'", "'Password = *** user=ada'"),
        ("'postgres://db/x?password=y'", "'postgres://db/x?password=***'"), ("x://a:b/c@d", "x://a:***@d"),
        ("tcp://127.0.0.1:7710,tcp://[::1]:7710", "tcp://127.0.0.1:7710,tcp://[::1]:7710"), ("a:b@c", "a:***@c"),
        ("", ""), ("//ada:secret@h/x", "//ada:***@h/x"), ("http:ada:secret@h", "http:***@h"),
        ("x 'ada:secret@h/x': no", "x 'ada:***@h/x': no"), ("password=x y", "password=*** y"),
        ("{\"a\":\"b@c\"}", "{\"a\":\"b@c\"}"), ("ada@h:1", "ada@h:1"),
        ("'postgres://u:pa ss@h/db': no", "'postgres://u:***@h/db': no"),
        ("postgres://u:pa/ss'x@h", "postgres://u:***@h"),
        ("'postgres://u:pa/ss': no", "'postgres://u:***': no"),
        ("http://u:p s@h and a @ too", "http://u:***@h and a @ too"),
        ("postgres://h:5432/x", "postgres://h:5432/x"), ("postgres://u:1a/x", "postgres://u:***"),
        ("postgres://u@[::1]:5432/x, [::2]", "postgres://u@[::1]:5432/x, [::2]"),
    ])
    func `show no password`(text: String, shown: String) { #expect(Redaction.of(text) == shown) }

    @Test func `show no password of a value that has no scheme, with a space and a quote in it`() {
        #expect(Redaction.of(value: "ada:se c'ret/x@h/") == "ada:***@h/")
        let command = Command(
            "x", abstract: "", groups: [OptionGroup("", [Option(optional: "j", .int(in: 0...1), help: "")])])
        let error = #expect(throws: UsageError.self) { try command.parse(["--j", "u:se cret@h"], environment: [:]) }
        #expect(error?.message.contains("'u:***@h'") == true && error?.message.contains("cret") == false)
    }

    @Test func `are in errors of usage`() {
        let command = Command("x", abstract: "", groups: [OptionGroup("", [Option(optional: "j", .string, help: "")])])
        let words = ["--j", "postgres://u:secret@h/d", "--j", "postgres://u:secret@h/e"]
        let error = #expect(throws: UsageError.self) { try command.parse(words, environment: [:]) }
        #expect(error?.description.contains("secret") == false && error?.description.contains("u:***@h/e") == true)
    }
}

@Suite struct `The name of a file` {
    @Test(arguments: [
        "a", "./a:b", "/a:b/c", "a b", "1:2", "C", "a=b", "./host=db", "/host=db", "../x", "é:x", "a/b:c",
    ])
    func `is any text that is no address and no option`(text: String) { #expect(FileName.flaw(in: text) == nil) }

    @Test(arguments: [
        "", "-", "-x", "--", "postgres:x", "sqlite:x", "file:///x", "a+b.c:d", "a\0", "host=db password=secret",
        "password = 'secret'", "connect_timeout=2 user=ada", "dbname=a/b",
    ])
    func `is nothing else`(text: String) {
        let flaw = FileName.flaw(in: text)
        #expect(flaw != nil && flaw?.contains("secret") == false)
    }
}

@Suite struct `Help for a command that there is not` {
    private let command = Command(
        "x", abstract: "", subcommands: [Command("one", abstract: "", subcommands: [Command("two", abstract: "")])])

    @Test(arguments: [["nix", "--help"], ["--help", "nix"], ["one", "nix", "-h"], ["nix"]])
    func `is an error`(words: [String]) {
        let error = #expect(throws: UsageError.self) { try command.parse(words, environment: [:]) }
        #expect(error?.message == "unknown command 'nix'")
    }

    @Test func `is an error for an argument that there is not, or that does not fit`() {
        let level = Option(optionalPositional: "LEVEL", .choice(["low", "high"]), help: "")
        let command = Command(
            "x", abstract: "",
            subcommands: [
                Command("one", abstract: ""), Command("two", abstract: "", positionals: [level]),
            ])
        for (words, text) in [
            (["one", "nix", "--help"], "unexpected argument 'nix'"), (["two", "nix", "-h"], "LEVEL cannot be 'nix'"),
        ] {
            let error = #expect(throws: UsageError.self) { try command.parse(words, environment: [:]) }
            #expect(error?.message.hasPrefix(text) == true, "\(String(describing: error))")
        }
        #expect((try? command.parse(["two", "low", "--help"], environment: [:]).text) != nil)
    }
}
