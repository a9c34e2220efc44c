import Linux
import LoopWire

/// The port at which a folder is served: a function of where the folder is, so that it is the same the next time.
enum SitePort {
    /// Neither those that reducers claim (from 20 010 on) nor those that the system hands out (from 32 768 on).
    static let range: ClosedRange<UInt16> = 10_000...19_999

    /// - Parameter folder: however it is written: the path without links and dots is what counts.
    static func port(of folder: String) -> UInt16 {
        let path = FileSystem.resolved(folder) ?? folder
        let place = StableHash.fnv1a(path.utf8) % UInt64(range.count)
        return range.lowerBound + UInt16(place)
    }
}
