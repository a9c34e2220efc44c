import LoopCore
import LoopExamples
import LoopGallery
import LoopTesting
import LoopView
import Testing

@Suite struct `The pages of the light and the switch` {
    private let clock = VirtualClock()

    @Test func `the light that is on is at its place`() {
        let page = TrafficLightPage(store: Store(Loop(TrafficLight(clock: clock), clock: clock)))
        #expect(page.plainText() == "# Traffic light\n● red\n○\n○\n[ Next ]")
        clock.advance(by: .seconds(1))
        #expect(page.plainText() == "# Traffic light\n○\n○\n● green\n[ Next ]")
        clock.advance(by: .seconds(1))
        #expect(page.plainText() == "# Traffic light\n○\n● yellow\n○\n[ Next ]")
    }

    @Test func `the switch shows one child, and its button the other`() throws {
        let page = SwitchPage(store: Store(Loop(Switch(clock: clock), clock: clock)))
        #expect(page.plainText() == "# Traffic light\n● red\n○\n○\n[ Next ]\n[ The other one ]")
        let light = ViewTree(page)
        #expect(light.perform(.press(try #require(light.button("Next")))))
        #expect(light.perform(.press(try #require(light.button("The other one")))))
        #expect(page.plainText() == "# Stopwatch\n0 s\n[ Reset ]\n[ The other one ]")
        clock.advance(by: .seconds(2))
        #expect(page.plainText() == "# Stopwatch\n2 s\n[ Reset ]\n[ The other one ]")
        // What is left of the tree of the light does nothing any more.
        #expect(light.perform(.press(try #require(light.button("Next")))))
        let stopwatch = ViewTree(page)
        #expect(stopwatch.perform(.press(try #require(stopwatch.button("Reset")))))
        #expect(page.plainText() == "# Stopwatch\n0 s\n[ Reset ]\n[ The other one ]")
    }
}
