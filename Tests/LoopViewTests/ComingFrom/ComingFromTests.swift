import Foundation
import LoopCore
import LoopView
import Testing

/// docs/coming-from says which line here stands for a line there; each is compiled, and does something.
@Suite(.timeLimit(.minutes(5))) struct `The pages on other libraries` {
    private static let root = URL(filePath: #filePath).appending(path: "../../../..").standardized
    static let pages = ["loop", "reactivefeedback", "rxfeedback", "combinefeedback"]

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    /// Lines are broken elsewhere, so blanks do not count.
    private static func dense(_ text: some StringProtocol) -> String { String(text.filter { !$0.isWhitespace }) }

    /// The code of the second column of all tables whose second column is ours.
    private static func lines(of page: String) -> [String] {
        var isTable = false
        return page.split(separator: "\n", omittingEmptySubsequences: false).flatMap { line -> [String] in
            let cells = line.split(separator: "|", omittingEmptySubsequences: false)
            if cells.count == 5, cells[2] == " here " { isTable = true }
            guard cells.count == 5, isTable else {
                isTable = false
                return []
            }
            return cells[2].matches(of: /`([^`]+)`/).map { String($0.output.1) }
        }
    }

    /// What stands between fences of Swift code.
    private static func blocks(of page: String) -> [String] {
        page.components(separatedBy: "```swift\n").dropFirst().map { $0.components(separatedBy: "```")[0] }
    }

    @Test(arguments: pages) func `show lines that are compiled`(page: String) throws {
        let compiled = try [
            "LoopViewTests/ComingFrom/NewLines", "LoopViewTests/ComingFrom/NewViews",
            "LoopTestingTests/TestLoop/TestLoopClockTests", "LoopTestingTests/TestLoop/TestLoopFailureTests",
        ].map { Self.dense(try Self.text("Tests/\($0).swift")) }.joined()
        let text = try Self.text("docs/coming-from/\(page).md")
        let lines = Self.lines(of: text)
        #expect(lines.count >= 15)
        for line in lines + Self.blocks(of: text) where !compiled.contains(Self.dense(line)) {
            Issue.record("not compiled: \(line)")
        }
    }

    /// What users of any of the four type, and would search these pages for.
    private static let names = """
        Loop(initial: send( loop.states loop.contexts scoped(to: scoped(event: ignoringInput() system(initial:
        feedbackLoop(initial: .lensing(state: .skippingRepeated(state: .firstValueAfterNil( .whenBecomesTrue(
        .compacting(state: Feedback(predicate: Feedback(effects: .extracting(payload: .skippingRepeated(events:
        .compacting(events: .middleware(effect: .react(request: .react(requests: .custom Feedback(events:
        .source( input .bind .autoconnect(followingChangesIn: Reducer.combine( .pullback(value: .optional()
        .combine( Feedback(skippingRepeated: Feedback(lensing: Store( ViewModel( .state .send(event:
        .mutate(keyPath: context.text context.view(value: context.binding(for: context.action(for: Widget(viewModel:
        IfLetWidget( SwitchWidget( CaseLetWidget( clock.advance(by: clock.run() TestLoop
        """

    @Test func `have every name`() throws {
        let lines = try Self.pages.flatMap { Self.lines(of: try Self.text("docs/coming-from/\($0).md")) }
        for name in Self.names.split(whereSeparator: \.isWhitespace) {
            #expect(lines.contains { Self.dense($0).contains(name) }, "\(name) is on no page")
        }
    }

    @Test func `find what is not compiled`() {
        let page = "| L | here | w |\n|---|---|---|\n| a | `b(c)` | `d` |\n\n| A | there | w |\n| a | `e` | f |"
        #expect(Self.lines(of: page) == ["b(c)"])
        #expect(Self.blocks(of: "a\n```swift\nb()\n```\nc\n```text\nd\n```") == ["b()\n"])
    }

    // MARK: The lines themselves

    @Test func `have feedbacks that make one loop together`() async {
        let (ticks, tick) = AsyncStream<Void>.makeStream()
        let feedbacks = feedbacksByOldNames() + feedbacksOfSources(ticks) + feedbacksByFirstNames(ticks)
        #expect(Set(feedbacks.map(\.name)).count == feedbacks.count)
        let loop = Loop(initial: Search(), reducer: reduce, feedbacks: feedbacks)
        loop.send(.type("swift"))
        loop.send(.submit)
        tick.finish()
        for await state in loop.states where state.results == ["swift"] { break }
        loop.stop()
    }

    @Test func `have loops, and scopes of them`() async {
        let searching: [SearchFeedback] = [.skippingRepeated(state: \.query, effects: search)]
        let run = Task { await loops(searching) }
        let loop = Loop(initial: Search(detail: Detail(title: "t")), reducer: reduce)
        #expect(scopes(loop) == ["loop", "t", "loop", "t", "t"])
        await run.value
    }

    @Test func `have parts that answer each other`() async {
        let (reducer, feedbacks) = composed()
        let loop = Loop(initial: Search(detail: Detail()), reducer: reducer, feedbacks: feedbacks)
        for await state in loop.states where state.detail?.isLiked == true { break }
        loop.stop()
    }

    @Test func `have stores, contexts and widgets`() {
        let loop = Loop(initial: Search(detail: Detail(title: "t")), reducer: reduce)
        #expect(stores(loop, []) == ["store", "model", "t", "one", "t", "returned"])
        let (typed, field, submit) = contexts(loop.context)
        #expect(loop.state.text == "store")
        typed.value = "typed"
        #expect(loop.state.text == "typed")
        field.value = "field"
        submit()
        #expect(loop.state.query == "field")
        let text = SearchPage(store: Store(loop)).plainText()
        #expect(text == "Search: [field]\n[x] Loading\n[ Go ]\n- one\n[ t ]")
        let stage = Store<Stage, SearchEvent>(initial: .finished(3), reducer: { _, _ in })
        #expect(StagePage(store: stage).plainText() == "3 found")
    }
}
