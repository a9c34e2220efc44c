import LoopCluster
import LoopCore
import LoopWire
import Testing

@Suite struct `A peer that asks` {
    private func asking() -> PeerBench {
        var bench = PeerBench()
        bench.join()
        _ = bench.machine.send([1], of: nil, wantsSeq: false, wantsAnswer: true)
        _ = bench.send()
        _ = bench.machine.send([2], of: nil, wantsSeq: false, wantsAnswer: true)
        return bench
    }

    private func applied(_ number: UInt64) -> NotableOutcome {
        NotableOutcome(number: number, outcome: .applied(Seq(number + 6)))
    }

    private let answers = [
        NumberedAnswer(number: 1, answer: .value([7])), NumberedAnswer(number: 3, answer: .missing(.undefined)),
    ]

    @Test func `says so with its entries, and asks for the seq too`() {
        var bench = asking()
        let batch = bench.machine.nextBatch()
        #expect(batch?.entries.map(\.wantsAnswer) == [true, false, true])
        #expect(batch?.entries.map(\.wantsSeq) == [true, false, true])
    }

    @Test func `is told the answer with the seq, or why there is none`() {
        var bench = asking()
        bench.push()
        let told = bench.publish(
            .acknowledgement(
                Acknowledgement(base: 0, watermark: 3, notable: [applied(1), applied(3)], answers: answers)))
        #expect(
            told == [
                .answered(number: 1, Seq(7), .value([7])), .answered(number: 3, Seq(9), .missing(.undefined)),
            ])
    }

    @Test func `is told of a refusal as of any other`() {
        var bench = asking()
        bench.push()
        #expect(
            bench.acknowledge(0, 3, refused(1, .overloaded), applied(3)) == [
                .settled(number: 1, .refused(.overloaded)), .answered(number: 3, Seq(9), nil),
            ])
    }

    @Test func `fetches an answer whose acknowledgement was lost`() {
        var bench = asking()
        bench.push()
        #expect(
            bench.publish(
                .acknowledgement(Acknowledgement(base: 2, watermark: 3, notable: [applied(3)], answers: [answers[1]])))
                == [])
        #expect(bench.wait().contains(.send(.outcomesRequest(bench.session, after: 0))))
        let outcomes = Acknowledgement(base: 0, watermark: 3, notable: [applied(1), applied(3)], answers: answers)
        #expect(bench.reply(.outcomes(outcomes)).contains(.answered(number: 1, Seq(7), .value([7]))))
    }

    @Test func `goes on whatever a reducer answers`() {
        var bench = asking()
        bench.push()
        let strange = [9, 3, 1, 1, 2].map { NumberedAnswer(number: $0, answer: .value([UInt8($0)])) }
        let told = bench.publish(
            .acknowledgement(
                Acknowledgement(base: 0, watermark: 3, notable: [applied(3), applied(1)], answers: strange)))
        #expect(told == [.answered(number: 1, Seq(7), .value([1])), .answered(number: 3, Seq(9), .value([3]))])
    }
}
