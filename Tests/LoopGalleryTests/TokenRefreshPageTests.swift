import LoopCore
import LoopExamples
import LoopGallery
import LoopTesting
import LoopView
import Testing

@Suite struct `The page of one refresh for many` {
    @Test func `shows who waits for the token, and the answers`() throws {
        let clock = VirtualClock()
        let server = StubTokenServer(clock: clock)
        let page = TokenRefreshPage(store: Store(Loop(TokenRefresh(server: server), clock: clock)))
        func lines() -> [String] { page.plainText().split(separator: "\n").dropFirst().map(String.init) }
        let buttons = "[ Ask ]  [ Ask five times ]"
        let divider = String(repeating: "-", count: 80)
        #expect(lines() == ["No token yet.", buttons, divider])
        let tree = ViewTree(page)
        #expect(tree.perform(.press(try #require(tree.button("Ask five times")))))
        let waiting = (1...5).map { "- \($0) /page/\($0): waits for a token" }
        #expect(lines() == ["Getting a token …", buttons] + waiting + [divider])
        clock.advance(by: .milliseconds(400))
        let out = (1...5).map { "- \($0) /page/\($0): out with token 1" }
        #expect(lines() == ["Token 1.", buttons] + out + [divider])
        clock.advance(by: .milliseconds(400))
        let answers = (1...5).map { "\($0) /page/\($0): read with token 1" }
        #expect(lines().prefix(3) == ["Token 1.", buttons, divider] && Set(lines().dropFirst(3)) == Set(answers))
        clock.advance(by: .seconds(10))
        #expect(tree.perform(.press(try #require(tree.button("Ask")))))
        clock.advance(by: .milliseconds(400))
        #expect(lines().prefix(2) == ["Getting a token in place of token 1 …", buttons])
    }
}
