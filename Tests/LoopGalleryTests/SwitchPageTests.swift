import LoopCore
import LoopExamples
import LoopGallery
import LoopTesting
import LoopView
import Testing

@Suite struct `The page of the switch` {
    private let clock = VirtualClock()

    @Test func `the light that is on is at its place`() {
        let page = SwitchPage(store: Store(Loop(Switch(clock: clock), clock: clock)))
        #expect(page.plainText() == "# Traffic light\n● red\n○\n○\n[ Next ]\n[ The other one ]")
        clock.advance(by: .seconds(1))
        #expect(page.plainText() == "# Traffic light\n○\n○\n● green\n[ Next ]\n[ The other one ]")
        clock.advance(by: .seconds(1))
        #expect(page.plainText() == "# Traffic light\n○\n● yellow\n○\n[ Next ]\n[ The other one ]")
    }

    @Test func `the switch shows one child, and its button the other`() throws {
        let page = SwitchPage(store: Store(Loop(Switch(clock: clock), clock: clock)))
        let light = ViewTree(page)
        #expect(light.perform(.press(try #require(light.button("Next")))))
        #expect(page.plainText() == "# Traffic light\n○\n○\n● green\n[ Next ]\n[ The other one ]")
        #expect(light.perform(.press(try #require(light.button("The other one")))))
        #expect(page.plainText() == "# Counter\n[ - ]  0  [ + ]  ( Reset )\n[ The other one ]")
        // What is left of the tree of the light does nothing any more.
        #expect(light.perform(.press(try #require(light.button("Next")))))
        let counter = ViewTree(page)
        #expect(counter.perform(.press(try #require(counter.button("+")))))
        #expect(page.plainText() == "# Counter\n[ - ]  1  [ + ]  [ Reset ]\n[ The other one ]")
        #expect(counter.perform(.press(try #require(counter.button("The other one")))))
        #expect(page.plainText() == "# Traffic light\n● red\n○\n○\n[ Next ]\n[ The other one ]")
    }
}
