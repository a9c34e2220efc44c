import Foundation

/// A file system in memory of a given size, mounted as long as the test needs it. Only root can mount.
final class SmallDisk {
    let path: String

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    init(kilobytes: Int) throws {
        path = NSTemporaryDirectory() + "loop-disk-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        try mount(0, "size=\(kilobytes)k")
    }

    deinit {
        umount2(path, Int32(MNT_DETACH))
        try? FileManager.default.removeItem(atPath: path)
    }

    func makeReadOnly() throws { try mount(UInt(MS_REMOUNT | MS_RDONLY), nil) }

    func makeWritable() throws { try mount(UInt(MS_REMOUNT), nil) }

    /// A disk is busy while a file on it is open to be written, and for a moment one may be in a process that another test
    /// starts: between its fork and its exec that has all descriptors of this one.
    private func mount(_ flags: UInt, _ options: String?) throws {
        let ends = ContinuousClock.now + .seconds(5)
        while Glibc.mount("tmpfs", path, "tmpfs", flags, options) != 0 {
            if errno == EBUSY, ContinuousClock.now < ends {
                usleep(1000)
                continue
            }
            throw Failure(description: "could not mount \(path): errno \(errno); this test must run as root")
        }
    }
}
