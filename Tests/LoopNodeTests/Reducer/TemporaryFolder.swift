import Foundation
import LoopNode

/// A folder that is there as long as this.
final class TemporaryFolder: Sendable {
    /// Short enough for the path of a socket in it.
    let path = "/tmp/loop-test-\(SystemRandom.uint64())"

    init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}
