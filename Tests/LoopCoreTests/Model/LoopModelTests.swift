import LoopCore
import Testing

/// Loops that are made up from seeds, against the reference. A difference is shrunk and printed as a test to be pasted
/// into `Found by the model`.
@Suite(.serialized, .timeLimit(.minutes(10))) struct `Loop against its model` {
    /// A failing case is tried with this much patience while it is made smaller.
    private static let shortPatience = Duration.milliseconds(150)

    private static let seedsPerTest: UInt64 = 500

    @Test(arguments: 0..<6 as Range<UInt64>)
    func `made-up loops do what the promises say`(part: UInt64) async {
        for seed in part * Self.seedsPerTest..<(part + 1) * Self.seedsPerTest {
            let made = ModelCase(seed: seed)
            guard let difference = await made.difference() else { continue }
            let small = await made.shrunk { await $0.difference(patience: Self.shortPatience) != nil }
            let smaller = await small.difference(patience: .seconds(5)) ?? "nothing is wrong with the smaller case"
            Issue.record("seed \(seed): \(difference)\n\(made)\nmade smaller: \(smaller)\n\(small)")
            return
        }
    }

    /// Most are found by the first ten cases, and all by the first hundred.
    @Test(arguments: Flaw.allCases)
    func `a flaw is found by far fewer cases`(flaw: Flaw) async {
        for seed in 0..<Self.seedsPerTest {
            let made = ModelCase(seed: seed)
            guard await made.difference(flaw: flaw, patience: Self.shortPatience) != nil else { continue }
            // It is the flaw, and not a slow machine.
            let isFlaw = await made.difference(flaw: flaw, patience: .milliseconds(300)) != nil
            let isSound = await made.difference() == nil
            #expect(isFlaw && isSound)
            return
        }
        Issue.record("\(Self.seedsPerTest) cases do not find that a loop \(flaw)")
    }

    @Test func `a found case is made small and prints as what makes it`() async {
        let made = ModelCase(seed: 20)
        #expect(made.feedbacks.count + made.reactions.count + made.steps.count >= 8)
        let small = await made.shrunk {
            await $0.difference(flaw: .restartsOnEqualValues, patience: Self.shortPatience) != nil
        }
        let expected = """
            ModelCase(
                initial: Cells(0, 1, 0),
                feedbacks: [
                    .init(.skippingRepeated(.cell(1)), .task),
                ],
                reactions: [],
                steps: [
                    .send(Put(2, 0)),
                ])
            """
        #expect(small.description == expected)
    }
}
