import LoopCompatibility
import LoopCore
import Testing

@Suite(.timeLimit(.minutes(5))) struct `Feedbacks of streams` {
    @Test func `events are made of the states`() async {
        let loop = counting([
            .events("double") { states in states.filter { $0.value == 1 || $0.value == 3 }.map { _ in 2 } }
        ])
        loop.send(1)
        let state = await first(loop) { $0.value == 5 }
        #expect(state?.events == ["1", "2", "2"])
    }

    @Test func `the latest request of a stream of states runs, and what the one before sends is refused`() async {
        let log = Log()
        let loop = counting([
            .compacting("latest", state: { $0.map(\.value).filter { $0 > 0 } }) { value in
                .run { send in
                    log.add("run \(value)")
                    if value == 2 { return try await send(20) }
                    if value > 2 { return }
                    await log.wait(for: "go on")
                    do { try await send(500) } catch { log.add("\(error)") }
                }
            }
        ])
        loop.send(1)
        await log.wait(for: "run 1")
        loop.send(1)
        await log.wait(for: "run 2")
        log.add("go on")
        await log.wait(for: "refused: the effect is no longer live")
        _ = await first(loop) { $0.events.contains("20") }
        #expect(!loop.state.events.contains("500"))
        loop.stop()
    }

    @Test func `the latest request of a stream of events runs, and ends with the loop`() async {
        let log = Log()
        let loop = counting([
            .compacting("latest", events: { $0.filter { $0 > 0 } }) { .lasting("\($0)", log) }
        ])
        loop.send(0)
        loop.send(2)
        await log.wait(for: "run 2")
        loop.stop()
        await log.wait(for: "cancel 2")
        #expect(log.lines == ["start 2", "run 2", "cancel 2"])
    }

    @Test func `bindings follow the states and bring events`() async {
        let log = Log()
        let loop = counting([
            .bind("screen") {
                Bindings(
                    subscriptions: ["a", "b"].map { name in
                        { states in
                            for await state in states { log.add("\(name)\(state.value)") }
                            log.add("\(name) ends")
                        }
                    },
                    events: [{ try? await $0(1) }, { try? await $0(1) }])
            }
        ])
        for name in ["a", "b"] { for value in 0...2 { await log.wait(for: "\(name)\(value)") } }
        loop.stop()
        await log.wait(for: "a ends")
        await log.wait(for: "b ends")
        for name in ["a", "b"] {
            #expect(log.lines.filter { $0.hasPrefix(name) } == (0...2).map { "\(name)\($0)" } + ["\(name) ends"])
        }
    }

    @Test func `a binding of a part that is not there is not bound`() async {
        let log = Log()
        let loop = counting([
            .bind("screen") {
                Bindings(subscriptions: [
                    { states in
                        for await state in states { log.add("\(state.value)") }
                        log.add("ends")
                    }
                ])
            }
            .autoconnect(followingChangesIn: { $0.value % 2 == 1 })
        ])
        loop.send(1)
        await log.wait(for: "1")
        loop.send(1)
        await log.wait(for: "ends")
        loop.send(1)
        await log.wait(for: "3")
        #expect(log.lines == ["1", "ends", "3"])
        loop.stop()
    }

    @Test func `events of bindings may be made of the states`() async {
        let loop = counting([
            .bind { states in
                Bindings(events: [
                    states.filter { $0.value == 1 }.map { _ in 10 }, states.filter { $0.value == 11 }.map { _ in 100 },
                ])
            }
        ])
        loop.send(1)
        let state = await first(loop) { $0.value == 111 }
        #expect(state?.events == ["1", "10", "100"])
    }

    @Test func `every reader of a binding's states begins with the latest and ends with the loop`() async {
        let log = Log()
        let loop = counting([
            .bind("screen") { states in
                Bindings(subscriptions: [
                    {
                        for await state in states {
                            log.add("first \(state.value)")
                            if state.value == 1 { break }
                        }
                        for await state in states { log.add("second \(state.value)") }
                        log.add("end")
                    }
                ])
            }
        ])
        await log.wait(for: "first 0")
        loop.send(1)
        await log.wait(for: "second 1")
        loop.send(1)
        await log.wait(for: "second 2")
        loop.stop()
        await log.wait(for: "end")
        #expect(log.lines == ["first 0", "first 1", "second 1", "second 2", "end"])
    }
}
