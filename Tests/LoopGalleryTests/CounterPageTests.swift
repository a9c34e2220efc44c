import LoopCore
import LoopExamples
import LoopGallery
import LoopView
import Testing

@Suite struct `The page of the counter` {
    @Test func `counts what is pressed`() throws {
        let page = CounterPage(store: Store(Loop(Counter())))
        #expect(page.plainText() == "# Counter\n[ - ]  0  [ + ]  ( Reset )")
        let tree = ViewTree(page)
        for _ in 0..<2 { #expect(tree.perform(.press(try #require(tree.button("+"))))) }
        #expect(page.plainText() == "# Counter\n[ - ]  2  [ + ]  [ Reset ]")
        let counted = ViewTree(page)
        #expect(counted.perform(.press(try #require(counted.button("Reset")))))
        #expect(counted.perform(.press(try #require(counted.button("-")))))
        #expect(page.plainText() == "# Counter\n[ - ]  -1  [ + ]  [ Reset ]")
    }
}
