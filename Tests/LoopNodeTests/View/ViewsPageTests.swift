import LoopApp
import LoopCore
import LoopNode
import LoopView
import Testing
import ZMQ

/// The lines of docs/views.md that show a loop of another process, and a terminal.
@Suite(.timeLimit(.minutes(5))) struct `The page on views, across processes` {
    private struct JobsPage: View {
        let store: Store<Jobs.State, Jobs.Event>

        var body: [Element] {
            if !store.connection.isCurrent { Text("\(store.connection)").tone(.warning) }
            if let problem = store.problem { Text("\(problem)").tone(.bad) }
            Widget(viewModel: store) { context in
                Text("\(context.done.count) of \(context.total) done")
            }
        }
    }

    @Test func `a page tells how well it knows its loop`() async throws {
        let context = try ZMQContext()
        let remote = try RemoteLoop(Jobs.self, reducer: "inproc://nobody-there", context: context, log: .silent)
        let store = Store(remote, showing: Jobs().initial)
        #expect(JobsPage(store: store).plainText() == "connecting\n0 of 0 done")
        let show: () async throws -> Void = {
            try await TerminalProgram.run(JobsPage(store: store))
        }
        _ = show
    }
}
