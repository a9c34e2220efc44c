import Glibc
import LoopCluster
import LoopCollections
import LoopNode
import LoopWire

/// A journal that several reducers of a test want, and one has: an opening waits as that of a database would.
final class SharedDisk: Sendable {
    let disk = TestDisk()
    private let owner = Locked<(number: Int, address: String?, openingsCount: Int)>((0, nil, 0))

    var place: JournalPlace {
        JournalPlace(
            path: { _ in nil }, open: { opening throws(JournalError) in try self.open(opening) },
            read: { _, _ throws(JournalError) in TestDiskJournal(disk: self.disk) })
    }

    private func open(_ opening: JournalPlace.Opening) throws(JournalError) -> any Journal {
        while true {
            let (number, other) = owner.withLock { owner -> (Int?, String?) in
                guard owner.number == 0 else { return (nil, owner.address) }
                owner.openingsCount += 1
                (owner.number, owner.address) = (owner.openingsCount, opening.address)
                return (owner.number, nil)
            }
            if let number { return TestDiskJournal(disk: disk) { self.release(number) } }
            let waits = opening.waits && opening.whileWaiting?(JournalOwner(address: other)) ?? true
            guard waits, !opening.isStopping() else {
                throw JournalError(.locked, operation: "be opened", reason: "another has it", remedy: "wait")
            }
            usleep(5000)
        }
    }

    private func release(_ number: Int) { owner.withLock { owner in if owner.number == number { owner.number = 0 } } }
}
