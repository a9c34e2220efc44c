import LoopCore
import LoopExamples
import LoopGallery
import LoopTesting
import LoopView
import Testing

@Suite struct `The page to sign in` {
    private let clock = VirtualClock()
    private let page: SignInPage

    init() {
        let directory = StubUserDirectory(line: StubLine(latency: .milliseconds(400), clock: clock))
        page = SignInPage(store: Store(Loop(SignIn(directory: directory, clock: clock), clock: clock)))
    }

    private func write(_ name: String) throws {
        let tree = ViewTree(page)
        #expect(tree.perform(.write(try #require(tree.field("User name")), name)))
    }

    /// The lines without the title.
    private var lines: [String] { Array(page.plainText().split(separator: "\n").map(String.init).dropFirst()) }

    @Test func `says what it knows of a name, and does not submit one that is taken`() throws {
        #expect(
            lines == [
                "User name: [not ada, grace or edsger]", "Any name that is free.", "[ ] I accept the terms",
                "( Sign in )",
            ])
        try write("ada")
        #expect(lines.prefix(2) == ["User name: [ada]", "…"])
        clock.advance(by: .milliseconds(300))
        #expect(lines[1] == "Asking for ada …")
        clock.advance(by: .milliseconds(400))
        #expect(lines[1] == "ada is taken.")
        #expect(lines.last == "( Sign in )")
    }

    @Test func `signs in once, with a form that stands still meanwhile`() throws {
        try write("alan")
        let form = ViewTree(page)
        #expect(form.perform(.press(try #require(form.toggle("I accept the terms")))))
        clock.advance(by: .milliseconds(700))
        #expect(
            lines == ["User name: [alan]", "alan is free.", "[x] I accept the terms", "[ Sign in ]"])
        let tree = ViewTree(page)
        #expect(tree.perform(.press(try #require(tree.button("Sign in")))))
        #expect(lines.last == "Signing in …")
        let waiting = ViewTree(page)
        #expect(!waiting.perform(.write(try #require(waiting.field("User name")), "ada")))
        clock.advance(by: .milliseconds(400))
        #expect(page.plainText() == "# Sign in\nHello, alan.")
    }

    @Test func `says why it could not sign in`() {
        let store = Store(Loop(SignIn()))
        store.mutate(keyPath: \.status, value: .failed("somebody else was faster"))
        #expect(SignInPage(store: store).plainText().contains("\nNot signed in: somebody else was faster\n"))
        store.mutate(keyPath: \.check, value: .failed("no answer"))
        #expect(SignInPage(store: store).plainText().contains("\nIt could not be checked: no answer\n"))
    }
}
