import LoopCore
import LoopSimulation
import LoopTesting
import Testing

@testable import LoopExamples

@Suite struct `Sign in` {
    private typealias FormLoop = TestLoop<SignIn.State, SignIn.Event>
    private let lost = LostAnswer(number: 1)

    /// A form with a free name, and accepted terms.
    private var filledIn: SignIn {
        var form = SignIn()
        form.initial.userName = "alan"
        form.initial.check = .free
        form.initial.hasAcceptedTerms = true
        return form
    }

    /// Answers an effect with errors until its retries are used up.
    private func failForGood(_ effect: TestEffect<SignIn.State, SignIn.Event>, _ loop: FormLoop) throws {
        for _ in 0..<2 {
            try effect.fail(lost)
            try loop.advance()
            try loop.expectStart(effect)
        }
        try effect.fail(lost)
    }

    @Test func `a name is checked after a pause in typing`() throws {
        try TestLoop.run(SignIn()) { loop in
            try loop.send(.typeName("a")) {
                $0.userName = "a"
                $0.check = .typing
            }
            let first = try loop.expectStart("pause", "a")
            try loop.send(.typeName("al")) { $0.userName = "al" }
            try loop.expectCancel(first)
            try loop.expectStart("pause", "al").complete(sending: .pausedTyping) { $0.check = .asking }
            try loop.expectStart("check", "al").complete(sending: .checked(isFree: true)) { $0.check = .free }
        }
    }

    @Test func `further typing discards the answer about the name before`() throws {
        try TestLoop.run(SignIn()) { loop in
            try loop.send(.typeName("ada")) {
                $0.userName = "ada"
                $0.check = .typing
            }
            try loop.expectStart("pause").complete(sending: .pausedTyping) { $0.check = .asking }
            let check = try loop.expectStart("check", "ada")
            try loop.send(.typeName("")) {
                $0.userName = ""
                $0.check = .none
            }
            try loop.expectCancel(check)
            try check.send(.checked(isFree: false), refused: .stale)
            // An event with the text that is there already is no typing.
            try loop.send(.typeName(""))
        }
    }

    @Test func `the directory is asked three times`() throws {
        try TestLoop.run(SignIn()) { loop in
            try loop.send(.typeName("alan")) {
                $0.userName = "alan"
                $0.check = .typing
            }
            try loop.expectStart("pause").complete(sending: .pausedTyping) { $0.check = .asking }
            try failForGood(try loop.expectStart("check"), loop)
            let reason = "no answer to request 1; try again"
            try loop.expectEvent(.checkFailed(reason)) { $0.check = .failed(reason) }
            try loop.send(.typeName("alan t")) {
                $0.userName = "alan t"
                $0.check = .typing
            }
            try loop.expectStart("pause", "alan t")
        }
    }

    @Test(arguments: [SignIn.Check.none, .typing, .asking, .free, .taken, .failed("")], [true, false])
    func `only a free name with accepted terms is submitted`(check: SignIn.Check, hasAccepted: Bool) throws {
        var form = SignIn()
        form.initial.userName = "alan"
        form.initial.check = check
        form.initial.hasAcceptedTerms = hasAccepted
        try TestLoop.run(form, mode: .selective) { loop in
            try loop.send(.submit)
            let isSubmitted = check == .free && hasAccepted
            #expect((loop.state.status == .submitting) == isSubmitted)
            #expect(loop.effects("submit").count == (isSubmitted ? 1 : 0))
        }
    }

    @Test func `while it is submitted the form stands still`() throws {
        try TestLoop.run(filledIn) { loop in
            try loop.send(.submit) { $0.status = .submitting }
            let submit = try loop.expectStart("submit", "alan")
            try loop.send(.submit)
            try loop.send(.typeName("ada"))
            try loop.send(.acceptTerms(false))
            try submit.complete(sending: .submitted(isWelcome: true)) { $0.status = .signedIn }
            try loop.send(.submit)
            try loop.send(.typeName("ada"))
        }
    }

    @Test func `a name that was taken meanwhile can be changed`() throws {
        try TestLoop.run(filledIn) { loop in
            try loop.send(.submit) { $0.status = .submitting }
            try loop.expectStart("submit").complete(sending: .submitted(isWelcome: false)) {
                $0.check = .taken
                $0.status = .failed("somebody else was faster")
            }
            try loop.send(.submit)
            try loop.send(.typeName("alan t")) {
                $0.userName = "alan t"
                $0.check = .typing
                $0.status = .editing
            }
            try loop.expectStart("pause", "alan t")
        }
    }

    @Test func `a submission without an answer is repeated, and at last can be made again`() throws {
        try TestLoop.run(filledIn) { loop in
            try loop.send(.submit) { $0.status = .submitting }
            try failForGood(try loop.expectStart("submit"), loop)
            let reason = "no answer to request 1; try again"
            try loop.expectEvent(.submitFailed(reason)) { $0.status = .failed(reason) }
            try loop.send(.submit) { $0.status = .submitting }
            try loop.expectStart("submit", "alan")
        }
    }

    @Test func `a form that is found submitting goes on submitting`() throws {
        var form = filledIn
        form.initial.status = .submitting
        try TestLoop.run(form) { loop in
            try loop.expectStart("submit", "alan").complete(sending: .submitted(isWelcome: true)) {
                $0.status = .signedIn
            }
        }
    }

    @Test func `each key puts the question off, and the answer takes its time`() {
        let clock = VirtualClock()
        let directory = StubUserDirectory(line: StubLine(latency: .milliseconds(400), clock: clock))
        let loop = Loop(SignIn(directory: directory, clock: clock), clock: clock)
        for name in ["g", "gr", "gra", "grac", "grace"] {
            loop.send(.typeName(name))
            clock.advance(by: .milliseconds(299))
        }
        #expect(loop.state.check == .typing)
        clock.advance(by: .milliseconds(1))
        #expect(loop.state.check == .asking)
        clock.advance(by: .milliseconds(399))
        #expect(loop.state.check == .asking)
        clock.advance(by: .milliseconds(1))
        #expect(loop.state.check == .taken)
        loop.send(.typeName("grace h"))
        clock.advance(by: .milliseconds(700))
        #expect(loop.state.check == .free)
        loop.send(.acceptTerms(true))
        loop.send(.submit)
        clock.advance(by: .milliseconds(400))
        #expect(loop.state.status == .signedIn)
    }

    @Test func `a repeated submission is answered like the first, whose answer was lost`() {
        let clock = VirtualClock()
        let directory = StubUserDirectory(line: StubLine(latency: .milliseconds(400), losing: 2, clock: clock))
        let loop = Loop(SignIn(directory: directory, clock: clock), clock: clock)
        loop.send(.typeName("alan"))
        loop.send(.acceptTerms(true))
        clock.advance(by: .milliseconds(700))
        loop.send(.submit)
        clock.advance(by: .milliseconds(400))
        #expect(loop.state.status == .submitting)
        clock.run()
        #expect(loop.state.status == .signedIn)
    }

    @Test(arguments: 0..<10 as Range<UInt64>)
    func `what is said of a name is said of the one in the field, whatever fails`(seed: UInt64) throws {
        let cluster = SimulatedCluster(SignIn(), seed: seed)
        cluster.answer("pause") { (_: String, effect: inout SimulatedEffect<SignIn.Event>) in
            effect.pause(.milliseconds(300))
            effect.send(.pausedTyping)
        }
        // Names with an even number of letters are free.
        cluster.answer("check") { (name: String, effect: inout SimulatedEffect<SignIn.Event>) in
            effect.pause(upTo: .seconds(2))
            effect.send(.checked(isFree: name.count.isMultiple(of: 2)))
        }
        cluster.client(every: .milliseconds(900)) { random in
            .typeName(String(repeating: "a", count: Int.random(in: 0...20, using: &random)))
        }
        cluster.invariant("an answer is to the name that is there") { state in
            switch state.check {
            case .free: state.userName.count.isMultiple(of: 2)
            case .taken: !state.userName.count.isMultiple(of: 2)
            case .none: state.userName.isEmpty
            case .typing, .asking: !state.userName.isEmpty
            case .failed: false
            }
        }
        let end = try cluster.run()
        // The answer comes once the user stops typing.
        #expect(end.state.userName.isEmpty ? end.state.check == .none : [.free, .taken].contains(end.state.check))
    }
}
