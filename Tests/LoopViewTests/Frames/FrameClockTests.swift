import LoopCore
import LoopView
import Testing

@Suite struct `Frame clock` {
    private func time(_ milliseconds: UInt64) -> MonotonicTime { MonotonicTime(nanoseconds: milliseconds * 1_000_000) }

    private func advance(_ frames: inout FrameClock, _ time: MonotonicTime) -> Bool { frames.advance(to: time) }

    @Test func `40 the first frame is due at once, and nothing more while nothing changes`() {
        var frames = FrameClock(interval: .milliseconds(100))
        #expect(frames.deadline == nil)
        #expect(!advance(&frames, time(5)))
        frames.changed(at: time(7))
        #expect(frames.deadline == time(7))
        #expect(advance(&frames, time(7)))
        #expect(frames.deadline == nil)
        #expect(!advance(&frames, time(1000)))
    }

    @Test func `40 changes within a frame become one, at its end`() {
        var frames = FrameClock(interval: .milliseconds(100))
        frames.changed(at: time(0))
        #expect(advance(&frames, time(0)))
        for milliseconds in [UInt64(10), 50, 99] {
            frames.changed(at: time(milliseconds))
            #expect(frames.deadline == time(100))
            #expect(!advance(&frames, time(milliseconds)))
        }
        #expect(advance(&frames, time(103)))
        frames.changed(at: time(104))
        #expect(frames.deadline == time(203))
    }

    @Test func `40 after a pause a change is drawn at once`() {
        var frames = FrameClock(framesPerSecond: 10)
        #expect(frames.interval == .milliseconds(100))
        frames.changed(at: time(0))
        #expect(advance(&frames, time(0)))
        frames.changed(at: time(500))
        #expect(advance(&frames, time(500)))
    }

    @Test(arguments: 0..<20)
    func `40 whatever the times, frames keep their distance and the last change is drawn`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var frames = FrameClock(interval: .milliseconds(Int64.random(in: 0...50, using: &random)))
        var now = MonotonicTime.zero
        var lastFrame: MonotonicTime?
        var isFresh = true
        func draw() {
            if let lastFrame { #expect(now - lastFrame >= frames.interval) }
            lastFrame = now
            isFresh = true
        }
        for _ in 0..<500 {
            now = now + .milliseconds(Int64.random(in: 0...30, using: &random))
            if Bool.random(using: &random) {
                frames.changed(at: now)
                isFresh = false
            }
            #expect((frames.deadline == nil) == isFresh)
            if frames.advance(to: now) { draw() }
        }
        if let deadline = frames.deadline {
            now = max(now, deadline)
            let isDrawn = frames.advance(to: now)
            #expect(isDrawn)
            draw()
        }
        #expect(isFresh)
    }
}
