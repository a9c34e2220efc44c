import LoopNode
import Testing

@testable import LoopCommands

@Suite struct `What processes complain of` {
    /// Complaints that expectations may ask.
    private final class Bench {
        private var complaints = Complaints(of: ["/opt/loop/loop-reducer", "loop-effect"])

        func shows(_ line: String, from member: ProcessGroup.Member) -> Bool { complaints.shows(line, from: member) }
    }

    private let complaints = Bench()

    @Test func `is shown once, whichever process says it`() {
        #expect(complaints.shows("loop-effect: unknown loop 'x'; there are ledger", from: .worker(2)))
        #expect(!complaints.shows("loop-reducer: unknown loop 'x'; there are ledger", from: .reducer))
        #expect(!complaints.shows("loop-effect: unknown loop 'x'; there are ledger", from: .worker(1)))
        #expect(complaints.shows("loop-reducer: something else", from: .reducer))
    }

    @Test func `is shown again where the same process says it again`() {
        for _ in 0..<3 { #expect(complaints.shows("loop-effect: no room for a thread", from: .worker(1))) }
    }

    @Test func `is not their log`() {
        for member in [ProcessGroup.Member.reducer, .worker(1), .worker(2)] {
            #expect(complaints.shows("worker w: waiting for a reducer", from: member))
            #expect(complaints.shows("loop-effects: no program of these", from: member))
        }
    }

    @Test func `is remembered up to a number of lines`() {
        for number in 0..<200 { #expect(complaints.shows("loop-effect: \(number)", from: .worker(1))) }
        #expect(!complaints.shows("loop-effect: 63", from: .worker(2)))
        #expect(complaints.shows("loop-effect: 64", from: .worker(2)))
    }
}
