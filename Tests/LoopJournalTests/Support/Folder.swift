import Foundation

/// A folder that is there as long as the test needs it.
final class Folder {
    let path: String

    /// - Parameter inMemory: for a test that opens a journal so often that it would mostly wait for the disk's syncs.
    init(inMemory: Bool = false) throws {
        path = (inMemory ? "/dev/shm/" : NSTemporaryDirectory()) + "loop-journal-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// The path of a journal in it.
    var journal: String { path + "/test.journal" }

    func bytes(_ name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(fileURLWithPath: path + "/" + name)))
    }

    func write(_ bytes: [UInt8], to name: String) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: path + "/" + name))
        // Whatever the umask.
        chmod(path + "/" + name, 0o600)
    }

    func remove(_ name: String) throws { try FileManager.default.removeItem(atPath: path + "/" + name) }

    static func names(_ path: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: path).sorted()
    }

    /// How many descriptors this process has of files whose paths begin so.
    static func openFiles(_ path: String) throws -> Int {
        let descriptors = "/proc/self/fd"
        return try FileManager.default.contentsOfDirectory(atPath: descriptors).count { name in
            // One of another test may be closed by now.
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(descriptors)/\(name)"))?.hasPrefix(path)
                == true
        }
    }

    var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted() }
}
