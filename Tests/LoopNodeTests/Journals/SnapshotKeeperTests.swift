import LoopCluster
import LoopCore
import Testing

@testable import LoopNode

@Suite struct `A snapshot that is written while the journal fails` {
    private let written = WrittenSnapshot(
        entry: SnapshotEntry(position: 7, seq: Seq(5), fingerprint: 1), duration: .milliseconds(3))

    private func keeper(_ opening: UInt64) -> SnapshotKeeper {
        SnapshotKeeper(
            opening: opening, every: 10, newest: nil, isDue: false, writer: { entry, _ in entry }, post: { _ in })
    }

    /// A journal in a database that is opened again may lack records which the snapshot holds; others have their positions by
    /// then, so that nothing else would show it.
    @Test func `is not added to the journal that was opened again`() {
        var reopened = keeper(2)
        #expect(reopened.written(.success(written), opening: 1) == nil)
        #expect(reopened.written(.success(written), opening: 2) == .success(written))
    }
}
