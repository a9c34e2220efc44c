import LoopCore
import Testing

/// Cases in which a loop once did not do what the model says, as small as they could be made.
@Suite(.timeLimit(.minutes(5))) struct `Found by the model` {
    private func expectNoDifference(_ made: ModelCase, sourceLocation: SourceLocation = #_sourceLocation) async {
        let difference = await made.difference()
        #expect(difference == nil, sourceLocation: sourceLocation)
    }

    /// It ran from the loop's start on, and saw the event that brought its part.
    @Test func `14 36 a custom feedback of an absent part does not run, and starts again without an event`() async {
        await expectNoDifference(
            ModelCase(feedbacks: [.init(.custom, .events([]), modifiers: [.present(2)])], steps: []))
        await expectNoDifference(
            ModelCase(
                feedbacks: [.init(.custom, .events([]), modifiers: [.connected(2)])],
                steps: [.send(Put(2, 1)), .send(Put(0, 1)), .send(Put(2, 0)), .send(Put(2, 1)), .custom(0, Put(0, 2))]
            ))
    }

    /// The closures of the effects that were to start next were still called.
    @Test func `9 an effect that stops the loop when it starts is the last to start`() async {
        await expectNoDifference(
            ModelCase(
                feedbacks: [.init(.lensing(.cell(0)), .task), .init(.each, .events([]))],
                reactions: [.init(.starting(0), .stop)], steps: [.send(Put(0, 1))]))
    }

    /// The send was reduced between the two starts, so that an effect started that had been cancelled.
    @Test func `5 what an effect sends when it is tried again is reduced after all have started`() async {
        await expectNoDifference(
            ModelCase(
                initial: Cells(1, 1, 0),
                feedbacks: [.init(.each, .task, attempts: 2, isLimited: true)],
                reactions: [.init(.starting(0), .send(Put(1, 0)))],
                steps: [.advance, .advance]))
    }
}
