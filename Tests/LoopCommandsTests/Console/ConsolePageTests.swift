import Foundation
import LoopCore
import LoopNode
import LoopNodeTesting
import LoopView
import TestFolders
import Testing
import ZMQ

@testable import LoopCommands

/// Parcels that a client orders and workers pack. One that is heavy is packed only with help, so its effect fails for good.
private struct Parcels: LoopDefinition {
    struct State: Codable, Sendable {
        var open: [String: Int] = [:]
        var packed: [String: Int] = [:]
    }

    enum Event: Codable, Sendable {
        case order(name: String, weight: Int)
        case packed(name: String)
    }

    struct Pack: Codable, Hashable, Sendable {
        var name: String
        var weight: Int
    }

    struct TooHeavy: Error {}

    static let name = "parcels"
    let initial = State()
    let feedbacks: [Feedback<State, Event>] = [
        Feedback<State, Event>.react(
            "pack", requests: { state in Set(state.open.map { Pack(name: $0.key, weight: $0.value) }) }
        ) { (pack: Pack) in
            .run { send in
                if pack.weight > 99 { throw TooHeavy() }
                try await send(.packed(name: pack.name))
            }
        }.on(.workers).retry(.never)
    ]

    func reduce(into state: inout State, _ event: Event, _: Transition) {
        switch event {
        case .order(let name, let weight): state.open[name] = weight
        case .packed(let name): state.packed[name] = state.open.removeValue(forKey: name)
        }
    }
}

@Suite(.timeLimit(.minutes(5))) struct `The console of a running loop` {
    /// A cluster in which three parcels were ordered, two of them were packed, and the heavy one has failed for good.
    /// - Parameter more: how many parcels were ordered and packed after that.
    private func run(more: Int = 0, _ body: (LocalCluster<Parcels>, ConsoleAsker) async throws -> Void) async throws {
        let folder = TestFolder()
        try await LocalCluster.run(Parcels(), journal: .file("\(folder.path)/journal")) { cluster in
            for (name, weight) in [("a", 1), ("b", 2), ("heavy", 100)] {
                try await cluster.sendAndConfirm(.order(name: name, weight: weight))
            }
            try await cluster.untilStatus { $0.seq == 5 && $0.parked.count == 1 }
            for number in 0..<more { try await cluster.sendAndConfirm(.order(name: "more \(number)", weight: 1)) }
            try await cluster.untilStatus { $0.seq == UInt64(5 + 2 * more) }
            try await body(
                cluster,
                ConsoleAsker(
                    reducer: cluster.address, limit: .seconds(20), replayLimit: .seconds(60), context: cluster.context))
        }
    }

    private final class Browser: Sendable {
        private let store: Store<ConsoleState, ConsoleState.Event>
        private let page: ConsolePage

        init(_ asker: ConsoleAsker) {
            store = Store(
                initial: ConsoleState(), reducer: { $0.apply($1) },
                feedbacks: ConsoleState.feedbacks(asker, every: .milliseconds(10)))
            page = ConsolePage(store: store)
        }

        /// Goes to a place, and returns its text when it shows all of these.
        @discardableResult
        func visit(_ place: String, shows texts: String...) async throws -> String {
            store.send(event: .visit(place))
            return try await until(texts)
        }

        /// Types an event to try.
        func type(_ event: String) { store.send(event: .typeTrial(event)) }

        @discardableResult
        func press(_ label: String, shows texts: String...) async throws -> String {
            let tree = ViewTree(page)
            tree.perform(.press(try #require(tree.button(label), "\(tree.plainText())")))
            return try await until(texts)
        }

        private func until(_ texts: [String]) async throws -> String {
            for await _ in store.states {
                let text = page.plainText(columns: 1000)
                if texts.allSatisfy({ text.contains($0) }) { return text }
            }
            throw CancellationError()
        }
    }

    @Test func `shows what is going on now, and has a parked effect retried`() async throws {
        try await run { _, asker in
            let browser = Browser(asker)
            try await browser.visit(
                "now", shows: "parcels", "ready", "pack", "parked", "no event is set aside", "TooHeavy")
            try await browser.press("Retry", shows: "waits to be run again")
        }
    }

    @Test func `shows all transitions, and those that a filter selects`() async throws {
        try await run { _, asker in
            let browser = Browser(asker)
            try await browser.visit("timeline", shows: "5 transitions", #"{"order":{"name":"a","weight":1}}"#, "packed")
            let text = try await browser.visit("timeline?event=order&text=HEAVY", shows: "there are no older ones")
            #expect(text.contains(#""weight":100"#) && !text.contains(#""name":"a""#))
        }
    }

    @Test func `shows a transition with its sender, its changes and its effects, and links both ways`() async throws {
        try await run { cluster, asker in
            let browser = Browser(asker)
            let text = try await browser.visit("seq/1", shows: "in session", "open.a", "absent", "started", "pack")
            let effect = try #require(text.split { " <>\n".contains($0) }.first { $0.hasPrefix("#effect/") })
                .dropFirst()
            let records = try await browser.visit(String(effect), shows: "asked for by", "granted", "1 attempt,")
            #expect(records.contains("<#seq/1>"))
            let page = try await cluster.ask(.history(from: 1, through: nil, after: nil), \.history)
            let packed = try #require(
                page.records.first { $0.kind == "event" && $0.effect == String(effect.dropFirst(7)) })
            try await browser.visit("seq/\(packed.seq)", shows: "sent by effect", "transition 1 <#seq/1>", "cancelled")
        }
    }

    @Test func `shows a state by its parts, now and earlier, and which transitions changed one`() async throws {
        try await run { _, asker in
            let browser = Browser(asker)
            try await browser.visit("state", shows: "as of seq 5", "open", "packed", "{\"a\":1,\"b\":2}")
            try await browser.visit("state/1?open", shows: "State after 1", "a <#state/1?open.a>", "1")
            let text = try await browser.visit("why?open.a", shows: "no other transition changed it", "absent")
            #expect(text.contains("<#seq/1>"))
            try await browser.visit("state?nothing", shows: "there is no \"nothing\"")
        }
    }

    /// A program in place of the loop's own: it prints what it was asked, and fails as some events want it to.
    private func program(in folder: TestFolder) -> LoopProgram {
        folder.writeProgram(
            "what-if",
            """
            case "$*" in
            *'"trap"'*) echo 'seq 2  {}'; echo 'Fatal error: odd' >&2; kill -ILL $$;;
            *'"late"'*) exec sleep 600;;
            *--test*) echo '@Test func';;
            esac
            printf '%s\\n' 'seq 2' "  + $*"
            """)
        return LoopProgram(path: "\(folder.path)/what-if", journal: "the journal")
    }

    @Test func `tries events that have not happened, one after another, and gives a test of them`() async throws {
        let folder = TestFolder()
        try await run { _, asker in
            var asker = asker
            let unable = try await Browser(asker).visit("what-if/1?1", shows: "--program PATH --journal JOURNAL")
            #expect(!unable.contains("seq 2"))
            asker.program = program(in: folder)
            let browser = Browser(asker)
            try await browser.visit("what-if/1", shows: "What if, after seq 1", "its transition <#seq/1>", "Next event")
            browser.type(#"{"packed":{"name":"a"}}"#)
            let asked = "+ parcels what-if --at 1 -- the journal "
            try await browser.press("Try", shows: asked + #"{"packed":{"name":"a"}}"#)
            browser.type("2 3")
            try await browser.press("Try", shows: asked + #"{"packed":{"name":"a"}} 2 3"#, "Without the last")
            try await browser.visit("what-if/1/test?1", shows: "@Test func")
        }
    }

    @Test func `says how a program has failed that tries events`() async throws {
        let folder = TestFolder()
        var program = program(in: folder)
        func error(_ event: String) async -> String {
            do {
                return try await program.tries(WhatIfQuestion(after: 1, events: ["1", event]), of: "parcels")
                    .joined(separator: "\n")
            } catch { return "\(error)" }
        }
        let trap = await error(#""trap""#)
        #expect(trap.contains("signal 4") && trap.contains("in event 2: Fatal error: odd"), "\(trap)")
        program.limit = .milliseconds(50)
        #expect(await error(#""late""#).contains("took longer than"))
        program = LoopProgram(path: "\(folder.path)/nothing", journal: "j")
        #expect(await error("2").contains("nothing"))
    }

    @Test func `shows a lane for each effect`() async throws {
        try await run { _, asker in
            try await Browser(asker).visit("effects", shows: "█", "1 attempt,", "parked")
        }
    }

    @Test func `says why there is no answer`() async throws {
        let asker = ConsoleAsker(
            reducer: try ReducerAddress(parsing: ipcEndpoint()), limit: .milliseconds(50),
            replayLimit: .milliseconds(50),
            context: try ZMQContext())
        try await Browser(asker).visit("now", shows: "no reducer answered", "Ask again")
    }

    /// The folder for the pictures of docs/console.md, if they are to be made again.
    private static let images =
        ProcessInfo.processInfo.environment["LOOP_CONSOLE_IMAGES"].map { ["--images", $0] } ?? []

    private static let hasBrowser = ["chromium-headless-shell", "chromium"].contains {
        FileManager.default.isExecutableFile(atPath: "/usr/bin/\($0)")
    }

    @Test(.enabled(if: hasBrowser)) func `is clicked through in Chromium`() async throws {
        let folder = TestFolder()
        try await run(more: 150) { _, asker in
            var asker = asker
            asker.program = program(in: folder)
            let server = try ConsoleCommand.serve(asker, at: HostAndPort(host: "127.0.0.1", port: 0))
            defer { server.stop() }
            let script = URL(filePath: #filePath).appending(path: "../../../../scripts/try-console").standardized.path
            let address = server.address
            let (code, output) = try await NodeThread.run("try-console") { () throws -> (Int32, String) in
                let (process, pipe) = (Process(), Pipe())
                process.executableURL = URL(filePath: "/usr/bin/python3")
                process.arguments = [script, address] + Self.images
                (process.standardOutput, process.standardError) = (pipe, pipe)
                try process.run()
                let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
                process.waitUntilExit()
                return (process.terminationStatus, output)
            }
            #expect(code == 0, "\(output)")
        }
    }
}
