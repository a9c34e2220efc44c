import Foundation
import LoopCore
import LoopView
import Testing

/// What docs/views.md shows is compiled, and does what it says.
@Suite struct `The page on views` {
    private static let root = URL(filePath: #filePath).appending(path: "../../../..").standardized

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    /// A text without the blanks at the beginnings of lines and without empty lines.
    private static func lines(_ text: some StringProtocol) -> String {
        text.split(separator: "\n").map { $0.drop { $0 == " " } }.filter { !$0.isEmpty }.joined(separator: "\n")
    }

    @Test func `shows code that is compiled in the tests`() throws {
        let compiled = try [
            "Tests/LoopViewTests/Docs/FilmsPage.swift", "Tests/LoopViewTests/Docs/SessionPage.swift",
            "Tests/LoopViewTests/Docs/ViewsPageTests.swift", "Tests/LoopAppTests/Web/View/ViewsPageTests.swift",
            "Tests/LoopNodeTests/View/ViewsPageTests.swift",
        ].map { Self.lines(try Self.text($0)) }
        let blocks = try Self.text("docs/views.md").components(separatedBy: "```swift\n").dropFirst()
            .map { $0.components(separatedBy: "```")[0] }
        #expect(blocks.count >= 6)
        for block in blocks {
            #expect(compiled.contains { $0.contains(Self.lines(block)) }, "not in the tests:\n\(block)")
        }
    }

    @Test func `a test of a view`() throws {
        let sent = Log<Films.Event>()
        let state = Films.State(titles: ["Charade"], failure: "no answer")
        let context = Context<Films.State, Films.Event>(state: state, send: { sent.add($0) })
        let tree = ViewTree(Button("Try again", action: context.action(for: .more)))
        #expect(tree.plainText() == "[ Try again ]")
        tree.perform(.press(try #require(tree.button("Try again"))))
        #expect(sent.entries == [.more])
    }

    @Test func `the films page in all its states`() throws {
        let store = Store(Films())
        let page = FilmsPage(store: store)
        #expect(page.plainText() == "# Films\nSearch: []\n[ ] Old ones too\n[ More ]")
        store.send(event: .more)
        store.send(event: .search("Film 1"))
        store.send(event: .failed("no answer"))
        let text = """
            # Films
            Search: [Film 1]
            [ ] Old ones too
            no answer
            [ Try again ]
            - Film 1
            - Film 10
            [ More ]
            """
        #expect(page.plainText() == text)
    }

    @Test func `the session page in both its states`() throws {
        let store = Store<Session, Session.Event>(
            initial: .signedOut(""),
            reducer: { state, event in
                switch (state, event) {
                case (.signedOut, .type(let name)): state = .signedOut(name)
                case (.signedOut(let name), .enter): state = .signedIn(Session.User(name: name))
                case (_, .leave): state = .signedOut("")
                default: break
                }
            })
        let page = SessionPage(store: store)
        #expect(page.plainText() == "Name: []\n( Sign in )")
        var tree = ViewTree(page)
        tree.perform(.write(try #require(tree.field("Name")), "Ann"))
        tree = ViewTree(page)
        tree.perform(.press(try #require(tree.button("Sign in"))))
        #expect(page.plainText() == "Hello, Ann\n[ Sign out ]")
    }

    @Test func `mutate in one process`() {
        let store = Store(Films())
        store.mutate(keyPath: \.search, value: "Ann")
        #expect(store.state.search == "Ann")
        #expect(store.connection.description == "in this process")
    }

}
