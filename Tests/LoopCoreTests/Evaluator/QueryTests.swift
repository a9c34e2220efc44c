import LoopCompatibility
import LoopCore
import Testing

@Suite struct `Queries` {
    typealias Form = Feedback<Int?, String>

    @Test func `14 an initial state starts the effects of state-driven forms and of no others`() {
        var wishes = Wishes<Int?, String>(
            .lensing("a", state: { $0 }) { (_: Int) in .none },
            .extracting("b", payload: { $0 }) { (_: String) in .none },
            .whenBecomesTrue("c", state: { $0 == 1 }) { _ in .none },
            .middleware("d") { _, _ in .none },
            .react("e", requests: { Set([$0].compactMap { $0 }) }) { (_: Int) in .none })
        #expect(wishes.after(1) == ["start 0.0.0: 1", "start 2.0.0: Optional(1)", "start 4.0.0: 1"])
    }

    @Test func `17 18 an effect is cancelled before the next one starts, and by nil`() {
        var wishes = Wishes(Form.react("a", request: { $0 }) { (_: Int) in .none })
        #expect(wishes.after(1) == ["start 0.0.0: 1"])
        #expect(wishes.after(2) == ["cancel 0.0.0", "start 0.1.0: 2"])
        #expect(wishes.after(nil) == ["cancel 0.1.0"])
        #expect(wishes.after(nil) == [])
    }

    @Test func `19 an equal value does nothing, and x nil x runs again`() {
        var wishes = Wishes(Form.react("a", request: { $0 }) { (_: Int) in .none })
        #expect(wishes.after(1) == ["start 0.0.0: 1"])
        #expect(wishes.after(1) == [])
        #expect(wishes.after(nil) == ["cancel 0.0.0"])
        #expect(wishes.after(1) == ["start 0.3.0: 1"])
    }

    @Test func `20 lensing restarts at every state with a value`() {
        var wishes = Wishes(Form.lensing("a", state: { $0 }) { (_: Int) in .none })
        #expect(wishes.after(1) == ["start 0.0.0: 1"])
        #expect(wishes.after(1) == ["cancel 0.0.0", "start 0.1.0: 1"])
        #expect(wishes.after(nil) == ["cancel 0.1.0"])
    }

    @Test func `21 firstValueAfterNil starts on the rising edge and ignores what follows`() {
        var wishes = Wishes(Form.firstValueAfterNil("a", state: { $0 }) { (_: Int) in .none })
        #expect(wishes.after(1) == ["start 0.0.0: 1"])
        #expect(wishes.after(2) == [])
        #expect(wishes.after(nil) == ["cancel 0.0.0"])
        #expect(wishes.after(3) == ["start 0.3.0: 3"])
    }

    @Test func `21 whenBecomesTrue starts on the rising edge and is cancelled on the falling one`() {
        var wishes = Wishes(Feedback<Int, String>.whenBecomesTrue("a", state: { $0 > 5 }) { _ in .none })
        #expect(wishes.after(1) == [])
        #expect(wishes.after(6) == ["start 0.1.0: 6"])
        #expect(wishes.after(7) == [])
        #expect(wishes.after(2) == ["cancel 0.1.0"])
        #expect(wishes.after(8) == ["start 0.4.0: 8"])
    }

    @Test func `22 an unmatched event cancels and forgets`() {
        let payload: @Sendable (String) -> Int? = { Int($0) }
        var wishes = Wishes(
            Form.extracting("a", payload: payload) { _ in .none },
            Form.skippingRepeated("b", events: payload) { _ in .none })
        #expect(wishes.after(nil) == [])
        #expect(wishes.after(nil, "1") == ["start 0.1.0: 1", "start 1.1.0: 1"])
        #expect(wishes.after(nil, "1") == ["cancel 0.1.0", "start 0.2.0: 1"])
        #expect(wishes.after(nil, "x") == ["cancel 0.2.0", "cancel 1.1.0"])
        #expect(wishes.after(nil, "1") == ["start 0.4.0: 1", "start 1.4.0: 1"])
    }

    @Test func `22 the keeping forms leave the effect running at an unmatched event`() {
        let payload: @Sendable (String) -> Int? = { Int($0) }
        var wishes = Wishes(
            Form.extractingAndKeeping("a", payload: payload) { _ in .none },
            Form.skippingRepeatedAndKeeping("b", events: payload) { _ in .none })
        #expect(wishes.after(nil) == [])
        #expect(wishes.after(nil, "1") == ["start 0.1.0: 1", "start 1.1.0: 1"])
        #expect(wishes.after(nil, "x") == [])
        #expect(wishes.after(nil, "1") == ["cancel 0.1.0", "start 0.3.0: 1"])
        #expect(wishes.after(nil, "2") == ["cancel 0.3.0", "start 0.4.0: 2", "cancel 1.1.0", "start 1.4.0: 2"])
    }

    @Test func `23 middleware runs once for each event and never for the initial state`() {
        var wishes = Wishes(Feedback<Int, Int>.middleware("a") { _, _ in .none })
        #expect(wishes.after(0) == [])
        #expect(wishes.after(1, 1) == ["start 0.1.0: Cause<Int, Int>(state: 1, event: 1)"])
        #expect(wishes.after(2, 1) == ["cancel 0.1.0", "start 0.2.0: Cause<Int, Int>(state: 2, event: 1)"])
    }

    @Test func `24 keys that vanish are cancelled, new ones start, changed requests are updates`() {
        var wishes = Wishes(Feedback<[String: Int], Int>.react("a", requests: { $0 }) { (_: Int) in .none })
        #expect(wishes.after(["b": 2, "a": 1]) == ["start 0.0.0: 1", "start 0.0.1: 2"])
        #expect(wishes.after(["b": 2, "a": 1]) == [])
        #expect(wishes.after(["b": 3, "c": 4]) == ["cancel 0.0.0", "update 0.0.1: 3", "start 0.2.0: 4"])
        #expect(wishes.after(["b": 3, "a": 1, "c": 4]) == ["start 0.3.0: 1"])
        #expect(wishes.after([:]) == ["cancel 0.0.1", "cancel 0.2.0", "cancel 0.3.0"])
    }

    @Test func `24 a set has one effect for each element`() {
        var wishes = Wishes(Feedback<Set<Int>, Int>.react("a", requests: { $0 }) { (_: Int) in .none })
        #expect(wishes.after([2, 1]) == ["start 0.0.0: 1", "start 0.0.1: 2"])
        #expect(wishes.after([2, 1]) == [])
        #expect(wishes.after([2, 3]) == ["cancel 0.0.0", "start 0.2.0: 3"])
    }

    @Test func `27 a source starts once and is never cancelled`() {
        var wishes = Wishes(Form.source("a") { _ in })
        #expect(wishes.after(nil) == ["start 0.0.0: SourceRequest()"])
        #expect(wishes.after(1) == [])
        #expect(wishes.after(nil) == [])
    }
}
