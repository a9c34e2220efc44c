import LoopCluster
import LoopWire
import Testing

@testable import LoopNode

@Suite struct `The obstacle to the use of a journal` {
    /// A database that answers can be reached. Whether it commits is not known.
    @Test(
        arguments: [
            (.noDatabase, true), (.databaseStarting, true), (.auth, true), (.noSyncStandby, false), (.lockWait, false),
            (.diskFull, false),
        ] as [(JournalFault.Reason, Bool)])
    func `ends when the database has answered, if it kept the process from connecting`(
        reason: JournalFault.Reason, ends: Bool
    ) {
        let obstacle = JournalObstacle(NodeLog(name: "reducer test", .silent))
        let error = JournalError(
            .unreachable, operation: "be opened", reason: "a test", remedy: "wait", fault: JournalFault(reason))
        obstacle.note(JournalOwner(obstacle: error))
        #expect(obstacle.lasting?.error == error)
        obstacle.note(JournalOwner())
        #expect((obstacle.lasting == nil) == ends)
    }
}
