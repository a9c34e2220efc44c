import LoopCompatibility
import LoopCore
import Testing

/// A whole with a part that is always there, one that is not, and a case.
private struct House: Equatable, Sendable {
    var door = 0
    var guest: Int?
    var light = Light.off
    var events: [String] = []
}

private enum Light: Equatable, Sendable {
    case off
    case on(brightness: Int)
    case broken(Int)
}

private enum HouseEvent: Equatable, Sendable {
    case door(Int)
    case guest(Int?)
    case light(Light)
    case bell

    var door: Int? { if case .door(let value) = self { value } else { nil } }
}

private func house(_ feedbacks: [Feedback<House, HouseEvent>] = []) -> Loop<House, HouseEvent> {
    Loop(
        initial: House(),
        reducer: { house, event in
            house.events.append("\(event)")
            switch event {
            case .door(let value): house.door += value
            case .guest(let guest): house.guest = guest
            case .light(let light): house.light = light
            case .bell: break
            }
        }, feedbacks: feedbacks)
}

@Sendable private func same<Value>(_ value: Value) -> Value { value }

@Suite(.timeLimit(.minutes(5))) struct `Composition promises` {
    @Test func `33 combined feedbacks are side by side and end together`() async {
        let log = Log()
        let both = Feedback<Counting, Int>.combine(
            .react("a", request: { $0.value }) { .lasting("a\($0)", log) },
            .combine(
                .whenBecomesTrue("b", state: { $0.value > 0 }) { .lasting("b\($0.value)", log) },
                .middleware("c") { _, event in
                    log.add("c\(event)")
                    return .none
                }))
        let loop = counting([both.autoconnect(followingChangesIn: { $0.value < 5 }), .everyState("d") { _ in .none }])
        await log.wait(for: "run a0")
        loop.send(1)
        await log.wait(for: "run a1")
        await log.wait(for: "run b1")
        #expect(log.lines.filter { !$0.hasPrefix("run") } == ["start a0", "cancel a0", "start a1", "start b1", "c1"])
        loop.send(10)
        #expect(log.lines.suffix(2) == ["cancel a1", "cancel b1"])
        #expect(loop.phases.count == 1)
        loop.stop()
    }

    @Test func `33 a modifier of combined feedbacks is one of each`() {
        let both = Feedback<Int, Int>.combine(
            .lensing("a", state: \.self) { (_: Int) in .none }, .lensing("b", state: \.self) { (_: Int) in .none })
        let definition = Listed(feedbacks: [both.on(.workers).timeout(.seconds(3)), .combine()])
        #expect(definition.allFeedbacks.map(\.name) == ["a", "b"])
        #expect(definition.allFeedbacks.map(\.placement) == [.workers, .workers])
        #expect(definition.allFeedbacks.map(\.policy.timeout) == [.seconds(3), .seconds(3)])
    }

    private struct Listed: LoopDefinition {
        static let name = "listed"
        let initial = 0
        let feedbacks: [Feedback<Int, Int>]
        func reduce(into state: inout Int, _ event: Int, _: Transition) {}
    }

    @Test func `34 a scope is a projection both ways, in the order of the root`() async {
        let root = house()
        let door = root.scoped(to: \.door, event: HouseEvent.door)
        var whole = root.states.makeAsyncIterator()
        var part = door.states.makeAsyncIterator()
        door.send(1)
        root.send(.bell)
        door.send(2)
        #expect(root.state.events == ["door(1)", "bell", "door(2)"])
        #expect(door.state == 3)
        #expect(door.seq == Seq(3))
        // Also the state that the part did not notice.
        for expected in [0, 1, 1, 3] {
            #expect(await part.next() == expected)
            #expect(await whole.next()?.door == expected)
        }
        door.mutate(keyPath: \.self, value: 7)
        #expect(root.state.door == 7)
        root.stop()
        #expect(await part.next() == 7)
        #expect(await part.next() == nil)
        door.send(1)
        #expect(door.state == 7)
    }

    @Test func `34 a scope removes duplicates only when it is asked to`() async {
        let root = house()
        var states = root.scoped(to: { $0.door % 10 }, event: HouseEvent.door).states.removingDuplicates()
            .makeAsyncIterator()
        for value in [0, 10, 1, 10] { root.send(.door(value)) }
        root.stop()
        #expect(await states.next() == 0)
        #expect(await states.next() == 1)
        #expect(await states.next() == nil)
    }

    @Test func `34 a scope of a scope is a scope, and keeps the root alive`() async {
        let log = Log()
        var root: Loop<House, HouseEvent>? = house([
            .source("lasting") { _ in
                await withTaskCancellationHandler {
                    await log.wait(for: "end")
                } onCancel: {
                    log.add("cancelled")
                }
            }
        ])
        var digit: Loop<Int, Bool>? = root?.scoped(to: \.door, event: HouseEvent.door)
            .scoped(to: { $0 % 10 }, event: { $0 ? 1 : 10 })
        root = nil
        digit?.send(true)
        digit?.send(false)
        digit?.send(true)
        #expect(digit?.state == 2)
        #expect(digit?.seq == Seq(3))
        #expect(!log.lines.contains("cancelled"))
        digit = nil
        await log.wait(for: "cancelled")
        log.add("end")
    }

    @Test func `34 a scope of events alone has the whole state`() {
        let root = house()
        let ringing = root.scoped(event: { (times: Int) in times == 1 ? .bell : .door(times) })
        ringing.send(1)
        ringing.send(5)
        #expect(ringing.state == root.state)
        #expect(root.state.events == ["bell", "door(5)"])
    }

    @Test func `35 a scope whose event is Never follows the loop and cannot send`() async {
        let root = house()
        let quiet: Loop<House, Never> = root.ignoringInput()
        root.send(.door(1))
        #expect(quiet.state.door == 1)
        // There is no value to call it with.
        let send: (Never) -> Void = quiet.send
        _ = send
        let part: Loop<Int, Never> = quiet.scoped(to: { $0.door }, event: same)
        #expect(part.state == 1)
    }

    @Test func `36 leaving an optional part ends its scope and cancels its effects`() async throws {
        let log = Log()
        let root = house([
            Feedback<Int, HouseEvent>.react("serve", request: { $0 }) { .lasting("\($0)", log) }
                .pullback(optionalValue: { $0.guest }, embedEvent: { $0 }, extractEvent: { $0 })
        ])
        #expect(root.scoped(toOptional: \.guest, event: HouseEvent.guest) == nil)
        root.send(.guest(1))
        let present = root.scoped(toOptional: { $0.guest }, event: { (_: Int) in HouseEvent.bell })
        let guest = try #require(present)
        await log.wait(for: "run 1")
        var states = guest.states.makeAsyncIterator()
        guest.send(0)
        root.send(.guest(nil))
        #expect(log.lines.last == "cancel 1")
        #expect(await states.next() == 1)
        #expect(await states.next() == 1)
        #expect(await states.next() == nil)
        guest.send(0)
        #expect(guest.state == 1)
        #expect(root.state.events == ["guest(Optional(1))", "bell", "guest(nil)"])
    }

    @Test func `36 leaving a case ends its scope and cancels its effects`() async throws {
        let log = Log()
        let on = CasePath(Light.on)
        let root = house([
            Feedback<Int, Light>.whileTrue("hum", state: { $0 > 0 }) { .lasting("\($0)", log) }
                .pullback(value: on, event: CasePath(embed: { $0 }, extract: { $0 }))
                .pullback(value: \.light, event: CasePath(HouseEvent.light))
        ])
        root.send(.light(.on(brightness: 2)))
        await log.wait(for: "run 2")
        let light = root.scoped(to: \.light, event: HouseEvent.light)
        let present = light.scoped(to: on, event: CasePath<Light, Light>(embed: { $0 }, extract: { $0 }))
        let lit = try #require(present)
        #expect(lit.state == 2)
        lit.mutate(keyPath: \.self, value: 3)
        await log.wait(for: "run 3")
        var states = lit.states.makeAsyncIterator()
        lit.send(.broken(1))
        #expect(root.state.light == .broken(1))
        #expect(log.lines.last == "cancel 3")
        #expect(await states.next() == 3)
        #expect(await states.next() == nil)
        lit.send(.off)
        #expect(root.state.light == .broken(1))
    }
}
