import LoopCore

/// A loop in this process that is sent events by one thread.
enum InProcessRole {
    static func run(_ role: Role) throws {
        let count = try role.number("count")
        let feedbacks = (0..<(try role.number("feedbacks"))).map { number in
            Feedback<CountingState, UInt64>.skippingRepeated("idle \(number)", state: { _ in Int?.none }) { _ in .none }
        }
        let loop = Loop(
            initial: CountingState(), reducer: { (state: inout CountingState, event: UInt64) in state.apply(event) },
            feedbacks: feedbacks)
        let warmUp = count / 10
        for number in 1...warmUp { loop.send(UInt64(number)) }
        let began = ProcessorTime.seconds
        for number in (warmUp + 1)...(warmUp + count) { loop.send(UInt64(number)) }
        let seconds = ProcessorTime.seconds - began
        try loop.state.check(UInt64(warmUp + count))
        Role.say("seconds", seconds)
    }
}
