import LoopCollections
import LoopCompatibility
import LoopCore
import Testing

private struct Broken: Error, CustomStringConvertible {
    var description: String { "broken" }
}

@Suite struct `Feedback promises` {
    @Test func `13 14 a custom feedback sees the state after each event, and at first no event`() async {
        let log = Log()
        let loop = counting([
            .custom("watch") { transitions, _ in
                for await (state, event) in transitions { log.add("\(event.map(String.init) ?? "-") \(state.value)") }
                log.add("end")
            }
        ])
        loop.send(1)
        loop.send(2)
        loop.stop()
        await log.wait(for: "end")
        #expect(log.lines == ["- 0", "1 1", "2 3", "end"])
    }

    @Test func `13 a middleware gets the state after its event`() {
        let log = Log()
        let loop = counting([
            .middleware("watch") { state, event in
                log.add("\(event) \(state.value)")
                return .none
            }
        ])
        loop.send(1)
        loop.send(2)
        #expect(log.lines == ["1 1", "2 3"])
    }

    @Test func `14 the initial state can start an effect whose events are reduced before the loop is handed out`() {
        let loop = counting([.whileTrue("up", state: { $0.value < 3 }) { _ in .event(1) }])
        #expect(loop.state.value == 3)
    }

    @Test func `15 who comes late sees the latest state and not the past`() async {
        let loop = counting()
        for _ in 0..<5 { loop.send(1) }
        var states = loop.states.makeAsyncIterator()
        loop.stop()
        #expect(await states.next()?.value == 5)
        #expect(await states.next() == nil)
    }

    @Test func `16 an effect's own events have been applied only where it waits for that`() async {
        let log = Log()
        let holder = LoopHolder(nil)
        let loop = counting([
            .source("source") { send in
                await log.wait(for: "held")
                let seq = try await send.sendAndConfirm(3)
                log.add("\(seq) \(holder.loop?.state.value ?? -1)")
            }
        ])
        holder.hold(loop)
        log.add("held")
        await log.wait(for: "1 3")
        holder.hold(nil)
    }

    @Test func `17 the old effect is cancelled before the new one starts`() async {
        let log = Log()
        let loop = counting([.react("one", request: { $0.value }) { .lasting("\($0)", log) }])
        await log.wait(for: "run 0")
        loop.send(1)
        await log.wait(for: "run 1")
        #expect(log.lines == ["start 0", "run 0", "cancel 0", "start 1", "run 1"])
        loop.stop()
    }

    @Test func `18 nil cancels and runs nothing`() async {
        let log = Log()
        let loop = counting([.lensing("one", state: { $0.value == 0 ? 0 : nil }) { .lasting("\($0)", log) }])
        await log.wait(for: "run 0")
        loop.send(1)
        #expect(log.lines == ["start 0", "run 0", "cancel 0"])
    }

    @Test func `19 an equal value does nothing after the effect has completed`() async {
        let log = Log()
        let loop = counting([
            .react("one", request: { $0.value >= 0 }) { value in
                log.add("start \(value)")
                return .none
            }
        ])
        loop.send(1)
        loop.send(1)
        #expect(log.lines == ["start true"])
        loop.send(-5)
        loop.send(5)
        #expect(log.lines == ["start true", "start false", "start true"])
    }

    @Test func `24 a completed effect is not started again while its key stays`() {
        let log = Log()
        let loop = counting([
            .react("keys", requests: { Dictionary(uniqueKeysWithValues: (0..<$0.value).map { ($0, $0) }) }) { key in
                log.add("\(key)")
                return .none
            }
        ])
        for change in [2, 1, -2, 2] { loop.send(change) }
        #expect(log.lines == ["0", "1", "2", "1", "2"])
    }

    @Test func `24 a changed request reaches the running effect`() async {
        let log = Log()
        let loop = counting([
            .react("keys", requests: { ["key": $0.value] }) { (first: Int, context) in
                .run { _ in
                    log.add("first \(first)")
                    for await update in context.updates(of: Int.self) { log.add("then \(update)") }
                    log.add("end")
                }
            }
        ])
        await log.wait(for: "first 0")
        loop.send(1)
        await log.wait(for: "then 1")
        loop.send(0)
        loop.send(2)
        await log.wait(for: "then 3")
        loop.stop()
        await log.wait(for: "end")
        #expect(log.lines == ["first 0", "then 1", "then 3", "end"])
    }

    @Test func `25 only the first event of an effect is reduced when it cancels the effect`() {
        let loop = counting([
            .react("three", request: { $0.value == 1 ? 1 : nil }) { (_: Int) in .events(10, 20, 30) }
        ])
        loop.send(1)
        #expect(loop.state.events == ["1", "10"])
    }

    @Test func `25 cancelling a completed effect removes its queued events and no others`() {
        let holder = LoopHolder(nil)
        let loop = counting([
            .react("mine", request: { $0.value == 1 ? 1 : nil }) { (_: Int) in .events(10, 20) },
            .react("other", request: { $0.value >= 1 }) { isUp in isUp ? .events(300, 400) : .none },
            .middleware("sender") { _, event in
                if event == 10 { holder.loop?.send(5000) }
                return .none
            },
        ])
        holder.hold(loop)
        loop.send(1)
        // 10 changes the value: 20 goes; what others have queued stays.
        #expect(loop.state.events == ["1", "10", "300", "400", "5000"])
        holder.hold(nil)
    }

    @Test func `25 a send of a cancelled effect is refused`() async {
        let log = Log()
        let loop = counting([
            .react("one", request: { $0.value == 0 ? 0 : nil }) { (_: Int) in
                .run { send in
                    log.add("run")
                    await log.wait(for: "cancelled")
                    do { try await send(7) } catch { log.add("\(error)") }
                    do { try await send.sendAndConfirm(7) } catch { log.add("\(error)") }
                }
            }
        ])
        await log.wait(for: "run")
        loop.send(1)
        log.add("cancelled")
        await log.wait(for: "refused: the effect is no longer live", count: 2)
        #expect(loop.state.events == ["1"])
    }

    @Test func `26 the end of an effect is not the end of the feedback`() async {
        let log = Log()
        let loop = counting([
            .extracting("odd", payload: { $0 % 2 == 1 ? $0 : nil }) { odd in
                .task {
                    log.add("\(odd)")
                    return nil
                }
            }
        ])
        loop.send(1)
        await log.wait(for: "1")
        loop.send(3)
        await log.wait(for: "3")
    }

    @Test func `27 what a source has queued stays when it has ended, whatever the state`() async {
        let log = Log()
        let loop = counting([
            .source("numbers", [1, 2, 3].stream, as: { $0 * 10 }),
            .middleware("log") { _, event in
                log.add("\(event)")
                return .none
            },
        ])
        await log.wait(for: "30")
        #expect(loop.state.events == ["10", "20", "30"])
    }

    @Test func `27 an input's events arrive in order, also those sent before the loop was made`() async {
        let input = Input<Int>()
        input.send(1)
        let loop = counting([.input("input", input)])
        input.send(2)
        input.send(3)
        let state = await first(loop) { $0.events.count == 3 }
        #expect(state?.events == ["1", "2", "3"])
        loop.stop()
        input.send(4)
    }

    @Test func `28 an error in one effect stops neither the loop nor another feedback`() async {
        let log = Log()
        let loop = counting([
            .extracting("bad", payload: { $0 }) { (_: Int) in .run { _ in throw Broken() } },
            .extracting("good", payload: { $0 }) { number in
                .task {
                    log.add("\(number)")
                    return nil
                }
            },
        ])
        for number in 1...3 {
            loop.send(number)
            await log.wait(for: "\(number)")
        }
        #expect(loop.state.value == 6)
    }

    @Test func `28 an error becomes the event that the feedback makes of it`() async {
        let loop = counting([
            .react("policy", request: { _ in 1 }) { (_: Int) in .run { _ in throw Broken() } }
                .failing { (request: Int, _) in 100 + request }
        ])
        #expect(await first(loop) { $0.events == ["101"] } != nil)
        #expect(loop.parked == [])
    }

    @Test func `29 a custom feedback contributes what it sends and nothing else`() async {
        let loop = counting([
            .custom("echo") { transitions, send in
                for await (_, event) in transitions {
                    if event == 1 { try? await send(10) }
                }
            }
        ])
        loop.send(1)
        #expect(await first(loop) { $0.events == ["1", "10"] } != nil)
    }

    @Test func `39 mutate publishes a state, passes the reducer by and shows no event`() async {
        let log = Log()
        let loop = counting([
            .middleware("log") { _, event in
                log.add("\(event)")
                return .none
            }
        ])
        var states = loop.states.makeAsyncIterator()
        loop.mutate(keyPath: \.value, value: 9)
        #expect(await states.next()?.value == 0)
        #expect(await states.next() == Counting(value: 9, events: []))
        #expect(log.lines == [])
    }
}

extension Array where Element: Sendable {
    /// The elements as an asynchronous sequence.
    fileprivate var stream: AsyncStream<Element> {
        AsyncStream { continuation in
            for element in self { continuation.yield(element) }
            continuation.finish()
        }
    }
}
