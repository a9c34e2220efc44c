import LoopCluster
import LoopCollections
import LoopNode
import TestFolders
import Testing

@Suite(.timeLimit(.minutes(2))) struct `A journal file that is free` {
    private let folder = TestFolder()

    /// An opening of a standby that has followed the file up to `lag` records before its end.
    private func opening(_ candidate: Candidate = Candidate(), behind lag: UInt64) -> JournalPlace.Opening {
        candidate.opening {
            var report = FollowingReport()
            (report.coldBecause, report.lag) = (nil, lag)
            return report
        }
    }

    @Test func `is left to the standby that is closest to its end`() async throws {
        let place = JournalPlace.file("\(folder.path)/journal")
        var holder = try place.open(opening(behind: 0))
        let far = Candidate()
        let request = opening(far, behind: 1_000_000)
        let waiting = Task {
            try await NodeThread.run("far") {
                var journal = try place.open(request)
                far.isOpen.withLock { $0 = true }
                journal.close()
            }
        }
        try await far.wait(forLooks: 1)
        holder.close()
        try await far.wait(forLooks: 11)
        #expect(!far.isOpen.withLock { $0 })
        var near = try place.open(opening(behind: 0))
        #expect(!far.isOpen.withLock { $0 })
        near.close()
        far.isStopping.withLock { $0 = true }
        let result = await waiting.result
        let error = #expect(throws: JournalError.self) { try result.get() }
        #expect(error?.kind == .locked)
    }

    @Test func `is tried ever more rarely while its folder is not there`() {
        let (looks, tries) = (Locked(0), Locked(0))
        var opening = JournalPlace.Opening(
            loop: "test", durability: .fsync, waits: true,
            whileWaiting: { _ in
                looks.withLock { count in
                    count += 1
                    return count < 12
                }
            }, isStopping: { false }, note: { _ in })
        opening.waitsForFile = true
        opening.expected = {
            tries.withLock { $0 += 1 }
            return nil
        }
        let place = JournalPlace.file("\(folder.path)/none/journal")
        let error = #expect(throws: JournalError.self) { try place.open(opening) }
        #expect(error?.kind == .readOnly)
        #expect(tries.withLock { $0 } < looks.withLock { $0 })
    }
}
