import LoopNode
import Testing

@Suite struct `Options` {
    @Test func `both spellings of a value mean the same`() throws {
        let spaced = try Sample.parse("linkcheck", "--bind", "ipc:///tmp/x", "--silence-limit", "500ms", "site")
        let joined = try Sample.parse("linkcheck", "--bind=ipc:///tmp/x", "--silence-limit=500ms", "site")
        for arguments in [spaced, joined] {
            #expect(arguments[Sample.bind] == "ipc:///tmp/x")
            #expect(arguments[Sample.silence] == .milliseconds(500))
        }
    }

    @Test func `what is not given has its default`() throws {
        let arguments = try Sample.parse("linkcheck", "site")
        #expect(arguments[Sample.bind] == "tcp://127.0.0.1:7710")
        #expect(arguments[Sample.silence] == .seconds(3))
        #expect(arguments[Sample.maximum] == 2_097_152)
        #expect(!arguments[Sample.insecure])
        #expect(arguments[Sample.keys] == nil)
        #expect(arguments[Sample.header] == [])
    }

    @Test func `a repeated option keeps all its values in order`() throws {
        let arguments = try Sample.parse("linkcheck", "--header", "A:1", "site", "--header=B:2=3")
        #expect(arguments[Sample.header] == ["A:1", "B:2=3"])
    }

    @Test func `a value may begin with one dash, or with two after an equals sign`() throws {
        #expect(try Sample.parse("linkcheck", "--header", "-x", "s")[Sample.header] == ["-x"])
        #expect(try Sample.parse("linkcheck", "--header=--x", "s")[Sample.header] == ["--x"])
    }

    @Test func `two dashes end the options`() throws {
        let arguments = try Sample.parse("linkcheck", "--external", "--", "--site")
        #expect(arguments[Sample.site] == "--site")
        #expect(arguments[Sample.external])
        #expect(try Sample.parse("linkcheck", "--", "run")[Sample.site] == "run")
    }

    @Test func `a single dash and a negative number are arguments`() throws {
        #expect(try Sample.parse("linkcheck", "-")[Sample.site] == "-")
        #expect(try Sample.parse("linkcheck", "-5")[Sample.site] == "-5")
    }

    @Test(arguments: [
        ("500ms", Duration.milliseconds(500)), ("3s", .seconds(3)), ("1.5s", .milliseconds(1500)),
        ("2m", .seconds(120)),
        ("0.1s", .milliseconds(100)), ("100000us", .milliseconds(100)), ("0.05m", .seconds(3)),
    ])
    func `durations are read exactly`(text: String, duration: Duration) throws {
        #expect(try Sample.parse("linkcheck", "--silence-limit", text, "s")[Sample.silence] == duration)
    }

    @Test(arguments: [
        "3", "3 s", "s", "-3s", "3S", "99ms", "601s", "1.s", ".5s", "1e3s", "9999999999999999999s", "٣s", "",
    ])
    func `what is no duration within the range is refused`(text: String) {
        #expect(
            throws: UsageError(
                message: "--silence-limit cannot be '\(text)': "
                    + "it takes a time with a unit, such as 500ms, 3s or 2m, from 100ms to 10m")
        ) { try Sample.parse("linkcheck", "--silence-limit=\(text)", "s") }
    }

    @Test(arguments: [
        ("1MiB", 1 << 20), ("64KiB", 65_536), ("2000", 2000), ("2000B", 2000), ("2kB", 2000), ("3MB", 3_000_000),
        ("1.5KiB", 1536), ("1GiB", 1 << 30),
    ])
    func `sizes are read exactly`(text: String, bytes: Int) throws {
        #expect(try Sample.parse("linkcheck", "--message-max", text, "s")[Sample.maximum] == bytes)
    }

    @Test(arguments: ["1023", "2GiB", "1.0001KiB", "-1", "1mb", "KiB", "9223372036854775807GiB"])
    func `what is no size within the range is refused`(text: String) {
        #expect(throws: UsageError.self) { try Sample.parse("linkcheck", "--message-max", text, "s") }
    }

    @Test func `numbers and choices are read`() throws {
        let arguments = try Sample.parse("tail", "--mode", "delta", "--rate", "2.5", program: Sample.control)
        #expect(arguments[Sample.mode] == .delta)
        #expect(arguments[Sample.rate] == 2.5)
        #expect(throws: UsageError.self) { try Sample.parse("tail", "--rate", "nan", program: Sample.control) }
        #expect(throws: UsageError.self) { try Sample.parse("tail", "--rate", "inf", program: Sample.control) }
    }

    @Test func `options of two authors are read from one result`() throws {
        let arguments = try Sample.parse("linkcheck", "--external", "--bind", "tcp://*:1", "site", "--per-host", "2")
        #expect(arguments[Sample.bind] == "tcp://*:1")
        #expect(arguments[Sample.external])
        #expect(arguments[Sample.perHost] == 2)
        #expect(arguments[Sample.site] == "site")
    }

    @Test func `a type of one's own reads and shows its values`() throws {
        let share = ValueType<Double>(placeholder: "PERCENT", expected: "a share such as 50%") { text in
            text.hasSuffix("%") ? Double(text.dropLast()).map { $0 / 100 } : nil
        } write: {
            "\(Int($0 * 100))%"
        }
        let option = Option("share", share, default: 0.25, help: "how much")
        let command = Command("own", abstract: "Own.", groups: [OptionGroup("Own", [option])])
        #expect(try Sample.parse("--share=50%", program: command)[option] == 0.5)
        #expect(command.helpText().contains("--share PERCENT  how much [default: 25%, env: LOOP_SHARE]"))
    }
}
