import LoopCollections
import LoopCompatibility
import LoopCore
import Testing

@Suite struct `Core promises` {
    @Test func `1 a subscriber gets one snapshot and then every later state in order`() async {
        let loop = counting()
        loop.send(1)
        var states = loop.states.makeAsyncIterator()
        var others = loop.states.makeAsyncIterator()
        for _ in 0..<3 { loop.send(1) }
        for expected in 1...4 {
            #expect(await states.next()?.value == expected)
            #expect(await others.next()?.value == expected)
        }
        loop.stop()
        #expect(await states.next() == nil)
        #expect(await others.next() == nil)
    }

    @Test func `2 only reduced events change the state, one at a time`() async {
        let inside = Locked(0)
        let loop = Loop<[Int], Int>(
            initial: [],
            reducer: { state, event in
                #expect(
                    inside.withLock {
                        $0 += 1
                        return $0
                    } == 1)
                state.append(event)
                inside.withLock { $0 -= 1 }
            })
        await withTaskGroup(of: Void.self) { group in
            for sender in 0..<4 { group.addTask { for _ in 0..<200 { loop.send(sender) } } }
        }
        #expect(loop.state.count == 800)
        #expect(loop.seq == Seq(800))
    }

    @Test func `3 events of one source never swap places`() async {
        let loop = Loop<[[Int]], (Int, Int)>(
            initial: Array(repeating: [], count: 4), reducer: { state, event in state[event.0].append(event.1) })
        await withTaskGroup(of: Void.self) { group in
            for sender in 0..<4 { group.addTask { for number in 0..<500 { loop.send((sender, number)) } } }
        }
        for sender in 0..<4 { #expect(loop.state[sender] == Array(0..<500)) }
    }

    @Test func `4 an event that changes nothing publishes a state`() async {
        let loop = Loop<Int, Int>(initial: 7, reducer: { (_: inout Int, _: Int) in })
        var states = loop.states.makeAsyncIterator()
        loop.send(1)
        loop.send(2)
        loop.stop()
        #expect(await states.next() == 7)
        #expect(await states.next() == 7)
        #expect(await states.next() == 7)
        #expect(await states.next() == nil)
    }

    @Test func `5 a send from inside a reducer is queued and reduced after the current event`() async {
        let holder = LoopHolder(nil)
        let log = Log()
        let loop = CountingLoop(
            initial: Counting(),
            reducer: { state, event in
                log.add("begin \(event)")
                if event < 3 { holder.loop?.send(event + 1) }
                state.value += event
                log.add("end \(event)")
            })
        holder.hold(loop)
        loop.send(1)
        #expect(log.lines == ["begin 1", "end 1", "begin 2", "end 2", "begin 3", "end 3"])
        #expect(loop.state.value == 6)
        holder.hold(nil)
    }

    @Test func `5 a send from inside an effect does not recurse, however often`() async {
        let holder = LoopHolder(nil)
        let loop = counting([
            .everyState("again") { state in
                if state.value < 20_000 { holder.loop?.send(1) }
                return .none
            }
        ])
        holder.hold(loop)
        loop.send(1)
        #expect(loop.state.value == 20_000)
        holder.hold(nil)
    }

    @Test func `5 what readers of states send is reduced afterwards, and all see one sequence`() async {
        let loop = counting()
        let states = loop.states
        await withTaskGroup(of: [Int].self) { group in
            // Two that send at even values, so that one value may be answered twice, and two that watch.
            for sends in [true, true, false, false] {
                let mine = states.makeAsyncIterator()
                group.addTask {
                    var (mine, seen) = (mine, [Int]())
                    while let state = await mine.next(), state.value < 100 {
                        seen.append(state.value)
                        if sends { loop.send(1) }
                    }
                    return seen
                }
            }
            for await seen in group { #expect(seen == Array(0..<100)) }
        }
        loop.stop()
    }

    @Test func `what is sent while the loop starts is reduced when every feedback has seen the initial state`() async {
        let log = Log()
        let input = Input<Int>()
        input.send(1)
        let loop = counting([
            .input("input", input), .whileTrue("first", state: { $0.value < 5 }) { _ in .events(10) },
            .everyState("last") { state in
                log.add("\(state.value)")
                return .none
            },
        ])
        _ = await first(loop) { $0.events.count == 2 }
        #expect(log.lines.first == "0")
        #expect(log.lines.sorted() == ["0", "10", "11"] || log.lines.sorted() == ["0", "1", "11"])
    }

    @Test func `6 sends from many threads are neither lost nor doubled`() async {
        let loop = counting()
        var states = loop.states.makeAsyncIterator()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 { group.addTask { for _ in 0..<250 { loop.send(1) } } }
        }
        #expect(loop.state.value == 2000)
        for expected in 0...2000 { #expect(await states.next()?.value == expected) }
    }

    @Test func `6 a send that races with the end of a drain is still reduced`() async {
        for _ in 0..<2000 {
            let loop = Loop<Int, Int>(initial: 0, reducer: { (state: inout Int, event: Int) in state += event })
            async let first: Void = loop.send(1)
            async let second: Void = loop.send(1)
            _ = await (first, second)
            #expect(loop.state == 2)
        }
    }

    @Test func `7 an uncontended send is synchronous`() {
        let loop = counting()
        loop.send(5)
        #expect(loop.state.value == 5)
        #expect(loop.seq == Seq(1))
    }

    @Test func `8 two unconditional feedbacks alternate in the order of their declaration`() {
        let log = Log()
        let loop = counting(
            ["a", "b"].map { (name: String) in
                .everyState(name) { state in
                    log.add("\(name)\(state.value)")
                    return .none
                }
            })
        loop.send(1)
        loop.send(1)
        #expect(log.lines == ["a0", "b0", "a1", "b1", "a2", "b2"])
    }

    @Test func `9 a stop cancels effects, ends streams, and makes later sends do nothing`() async {
        let log = Log()
        let loop = counting([.everyState("lasting") { _ in .lasting("it", log) }])
        await log.wait(for: "run it")
        var states = loop.states.makeAsyncIterator()
        loop.stop()
        await log.wait(for: "cancel it")
        #expect(await states.next()?.value == 0)
        #expect(await states.next() == nil)
        loop.send(1)
        loop.stop()
        #expect(loop.state.value == 0)
        #expect(log.lines == ["start it", "run it", "cancel it"])
        var late = loop.states.makeAsyncIterator()
        #expect(await late.next() == nil)
    }

    @Test func `9 a loop that is released ends its effects and streams`() async {
        let log = Log()
        var loop: CountingLoop? = counting([.everyState("lasting") { _ in .lasting("it", log) }])
        await log.wait(for: "run it")
        let states = loop?.states
        var iterator = states?.makeAsyncIterator()
        loop = nil
        await log.wait(for: "cancel it")
        #expect(await iterator?.next()?.value == 0)
        #expect(await iterator?.next() == nil)
    }

    @Test func `9 an event that waits to be confirmed when the loop stops is refused as ended`() async {
        let log = Log()
        let holder = LoopHolder(nil)
        let loop = CountingLoop(
            initial: Counting(),
            reducer: { state, event in
                if event == 2 { holder.loop?.stop() }
                state.value += event
            },
            feedbacks: [
                .source("source") { send in
                    await log.wait(for: "held")
                    do { try await send.sendAndConfirm(2) } catch { log.add("\(error)") }
                    do { try await send(3) } catch { log.add("\(error)") }
                }
            ])
        holder.hold(loop)
        log.add("held")
        await log.wait(for: "refused: the loop has ended", count: 2)
        #expect(loop.state.value == 0)
        holder.hold(nil)
    }

    @Test func `10 a stop from inside a delivery takes effect before the next event`() {
        let holder = LoopHolder(nil)
        let loop = counting([
            .middleware("stopper") { state, _ in
                if state.value == 2 { holder.loop?.stop() }
                return .events(10, 20)
            }
        ])
        holder.hold(loop)
        loop.send(2)
        #expect(loop.state.events == ["2"])
        holder.hold(nil)
    }

    @Test func `11 a cold loop is built for each subscriber`() async {
        let log = Log()
        let states = system(
            initial: 0, reduce: { (state: Int, event: Int) in state + event },
            feedbacks: [
                .whileTrue("up", state: { $0 < 3 }) { state in
                    log.add("\(state)")
                    return .event(1)
                }
            ])
        #expect(log.lines == [])
        for _ in 0..<2 {
            for await state in states where state == 3 { break }
        }
        #expect(log.lines == ["0", "1", "2", "0", "1", "2"])
    }

    @Test func `11 a loop starts once, when it is made, and is shared by all who watch`() async {
        let log = Log()
        let loop = counting([
            .everyState("effect") { state in
                log.add("\(state.value)")
                return .none
            }
        ])
        #expect(log.lines == ["0"])
        var (one, other) = (loop.states.makeAsyncIterator(), loop.states.makeAsyncIterator())
        loop.send(3)
        for expected in [0, 3] {
            #expect(await one.next()?.value == expected)
            #expect(await other.next()?.value == expected)
        }
        #expect(log.lines == ["0", "3"])
    }

    @Test func `11 a cold loop ends with its iteration`() async {
        let log = Log()
        let states = system(
            initial: 0, reduce: { (state: Int, event: Int) in state + event },
            feedbacks: [.everyState("lasting") { _ in .lasting("it", log) }])
        for await _ in states {
            await log.wait(for: "run it")
            break
        }
        await log.wait(for: "cancel it")
    }

    @Test func `12 subscribing from inside an observer gets the current snapshot`() async {
        let loop = counting()
        loop.send(4)
        var seen: [Int] = []
        for await state in loop.states {
            loop.send(1)
            for await inner in loop.states {
                seen += [state.value, inner.value]
                break
            }
            if state.value == 6 { break }
        }
        #expect(seen == [4, 5, 5, 6, 6, 7])
    }

    @Test func `12 subscribing from inside an effect gets the current snapshot`() async {
        let holder = LoopHolder(nil)
        let log = Log()
        let loop = counting([
            .middleware("subscriber") { _, event in
                _ = holder.loop?.states.makeAsyncIterator()
                return .run { _ in
                    for await state in holder.loop?.states ?? counting().states {
                        log.add("event \(event) sees \(state.value)")
                        return
                    }
                }
            }
        ])
        holder.hold(loop)
        loop.send(4)
        await log.wait(for: "event 4 sees 4")
        holder.hold(nil)
    }
}
