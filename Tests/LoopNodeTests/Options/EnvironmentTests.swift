import LoopNode
import Testing

@Suite struct `Environment variables` {
    @Test func `stand in for options, and the command line overrules them`() throws {
        let environment = [
            "LOOP_BIND": "ipc:///tmp/x", "LOOP_SILENCE_LIMIT": "5s", "LOOP_EXTERNAL": "yes", "LOOP_HEADER": "A:1,B:2",
            "LOOP_SITE": "from-variable",
        ]
        let arguments = try Sample.parse("linkcheck", "--silence-limit=1s", environment: environment)
        #expect(arguments[Sample.bind] == "ipc:///tmp/x")
        #expect(arguments[Sample.silence] == .seconds(1))
        #expect(arguments[Sample.external])
        #expect(arguments[Sample.header] == ["A:1", "B:2"])
        #expect(arguments[Sample.site] == "from-variable")
        #expect(try Sample.parse("linkcheck", "given", environment: environment)[Sample.site] == "given")
    }

    @Test func `that are unknown or empty are ignored`() throws {
        let arguments = try Sample.parse(
            "linkcheck", "s", environment: ["LOOP_UNKNOWN": "x", "LOOP_PER_HOST": "", "LOOP_EXTERNAL": "0"])
        #expect(arguments[Sample.perHost] == 8)
        #expect(!arguments[Sample.external])
    }

    @Test(arguments: [
        ("LOOP_PER_HOST", "many", "it takes a whole number from 1 to 64"),
        ("LOOP_EXTERNAL", "maybe", "it takes 1, true, yes, on, 0, false, no or off"),
    ])
    func `with a bad value are named`(name: String, text: String, expected: String) {
        #expect(throws: UsageError(message: "\(name) cannot be '\(text)': \(expected)")) {
            try Sample.parse("linkcheck", "s", environment: [name: text])
        }
    }

    @Test func `may have a name of their own`() throws {
        let arguments = try Sample.parse(
            "send", "{}", program: Sample.control, environment: ["LOOP_ADMIN_TOKEN": "secret"])
        #expect(arguments[Sample.token] == "secret")
    }
}
