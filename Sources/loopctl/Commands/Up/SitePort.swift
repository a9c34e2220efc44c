import Linux
import LoopWire

/// The port at which a folder is served. It depends only on the folder's path, so that it is the same the next time.
enum SitePort {
    /// The range has no ports that reducers claim (from 20 010 on) or that the system uses for outgoing connections (from 32 768
    /// on).
    static let range: ClosedRange<UInt16> = 10_000...19_999

    /// - Parameter folder: the folder in any spelling, because only its path without links and dots counts.
    static func port(of folder: String) -> UInt16 {
        let path = FileSystem.resolved(folder) ?? folder
        let place = StableHash.fnv1a(path.utf8) % UInt64(range.count)
        return range.lowerBound + UInt16(place)
    }
}
