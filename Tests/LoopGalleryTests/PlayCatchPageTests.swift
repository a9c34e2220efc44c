import LoopCore
import LoopExamples
import LoopGallery
import LoopTesting
import LoopView
import Testing

@Suite struct `The page to play catch` {
    @Test func `lets throw who has the ball`() throws {
        let clock = VirtualClock()
        let page = PlayCatchPage(store: Store(Loop(PlayCatch(clock: clock), clock: clock)))
        #expect(page.plainText() == "# Play catch\nyou ●        machine\n[ Throw ]\nCaught: 0")
        let tree = ViewTree(page)
        #expect(tree.perform(.press(try #require(tree.button("Throw")))))
        #expect(page.plainText() == "# Play catch\nyou        ● machine\n( Throw )\nCaught: 1")
        clock.advance(by: .seconds(1))
        #expect(page.plainText() == "# Play catch\nyou ●        machine\n[ Throw ]\nCaught: 2")
    }
}
