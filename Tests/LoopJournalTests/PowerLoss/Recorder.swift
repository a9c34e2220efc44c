import CSQLite
import Foundation
import LoopJournal

/// One change that was made to files, or something that the test wants to find again among them.
enum Operation: Sendable {
    case create(String)
    case write(String, at: Int, [UInt8])
    case truncate(String, to: Int)
    case sync(String)
    /// A sync that failed: the system no longer means to write what was to be synced.
    case failedSync(String)
    case remove(String)
    case rename(String, to: String)
    case makeFolder(String)
    case syncFolder(String)
    /// The number of records that have been acknowledged.
    case acknowledged(Int)
    /// The number of snapshots that have been added.
    case snapshots(Int)
}

/// Hears of every change that SQLite and the journal make to files in a folder, in order.
final class Recorder: @unchecked Sendable {
    private let lock = NSLock()
    private var recorded: [Operation] = []
    private var syncsUntilFailure = Int.max
    private let folder: String

    /// All recorders there are: SQLite's layer finds the one of a file by its folder.
    private static let registry = NSLock()
    nonisolated(unsafe) private static var all: [Recorder] = []

    init(_ folder: String) {
        self.folder = folder
        RecordingLayer.register()
        Self.registry.withLock { Self.all.append(self) }
    }

    func end() { Self.registry.withLock { Self.all.removeAll { $0 === self } } }

    var operations: [Operation] { lock.withLock { recorded } }

    func record(_ operation: Operation) { lock.withLock { recorded.append(operation) } }

    /// The number of syncs after which one fails.
    func failSync(after count: Int) { lock.withLock { syncsUntilFailure = count } }

    /// - Returns: whether the sync is to fail.
    func sync(_ path: String) -> Bool {
        lock.withLock {
            syncsUntilFailure -= 1
            let fails = syncsUntilFailure == -1
            recorded.append(fails ? .failedSync(path) : .sync(path))
            return fails
        }
    }

    /// Under a journal in the folder.
    var layer: FileLayer {
        var layer = FileLayer()
        layer.sqlite = RecordingLayer.name
        // Small, so that the log is brought into the file often.
        layer.checkpointPages = 12
        layer.disk = Disk { [self] change in
            switch change {
            case .wrote(let path, let bytes):
                record(.create(path))
                record(.truncate(path, to: 0))
                record(.write(path, at: 0, bytes))
            case .rewrote(let path, let bytes, let offset): record(.write(path, at: offset, bytes))
            case .truncated(let path, let size): record(.truncate(path, to: size))
            case .synced(let path): record(.sync(path))
            case .renamed(let path, let other): record(.rename(path, to: other))
            case .removed(let path): record(.remove(path))
            case .madeFolder(let path): record(.makeFolder(path))
            case .syncedFolder(let path): record(.syncFolder(path))
            }
        }
        return layer
    }

    static func of(_ path: String) -> Recorder? {
        registry.withLock { all.first { path.hasPrefix($0.folder + "/") } }
    }
}

/// SQLite's standard layer, with a note of each change on the way.
enum RecordingLayer {
    static let name = "recording"

    /// In front of the standard layer's own file: the methods, and which file it is.
    private struct Head {
        var base: sqlite3_file
        var file: Unmanaged<File>
    }

    private final class File {
        let path: String
        let recorder: Recorder?
        /// The first sync of a log or journal brings its name to the disk too.
        var syncsFolder: Bool

        init(path: String, syncsFolder: Bool) {
            self.path = path
            recorder = Recorder.of(path)
            self.syncsFolder = syncsFolder
        }
    }

    private static let headBytes = 64
    nonisolated(unsafe) private static let standard = sqlite3_vfs_find(nil)!
    nonisolated(unsafe) private static let methods = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
    private static let registered: Bool = {
        methods.initialize(to: makeMethods())
        let layer = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
        layer.initialize(to: standard.pointee)
        layer.pointee.zName = UnsafePointer(strdup(name))
        layer.pointee.szOsFile = Int32(headBytes) + standard.pointee.szOsFile
        layer.pointee.pNext = nil
        layer.pointee.xOpen = { _, path, file, flags, outFlags in
            RecordingLayer.open(path, file!, flags, outFlags)
        }
        layer.pointee.xDelete = { _, path, syncsFolder in
            let result = RecordingLayer.standard.pointee.xDelete(RecordingLayer.standard, path, syncsFolder)
            if result == SQLITE_OK, let path, let recorder = Recorder.of(String(cString: path)) {
                recorder.record(.remove(String(cString: path)))
                if syncsFolder != 0 {
                    recorder.record(.syncFolder((String(cString: path) as NSString).deletingLastPathComponent))
                }
            }
            return result
        }
        return sqlite3_vfs_register(layer, 0) == SQLITE_OK
    }()

    static func register() { precondition(registered) }

    private static func real(_ file: UnsafeMutablePointer<sqlite3_file>) -> UnsafeMutablePointer<sqlite3_file> {
        (UnsafeMutableRawPointer(file) + headBytes).assumingMemoryBound(to: sqlite3_file.self)
    }

    private static func head(_ file: UnsafeMutablePointer<sqlite3_file>) -> UnsafeMutablePointer<Head> {
        UnsafeMutableRawPointer(file).assumingMemoryBound(to: Head.self)
    }

    private static func file(_ file: UnsafeMutablePointer<sqlite3_file>) -> File {
        head(file).pointee.file.takeUnretainedValue()
    }

    private static func open(
        _ path: UnsafePointer<CChar>?, _ file: UnsafeMutablePointer<sqlite3_file>, _ flags: Int32,
        _ outFlags: UnsafeMutablePointer<Int32>?
    ) -> Int32 {
        file.pointee.pMethods = nil
        let name = path.map { String(cString: $0) } ?? ""
        // A database is made empty, for its user alone, before SQLite opens it.
        var status = stat()
        let existed = stat(name, &status) == 0 && status.st_size > 0
        let result = standard.pointee.xOpen(standard, path, real(file), flags, outFlags)
        guard result == SQLITE_OK else { return result }
        let isLog = flags & (SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL) != 0
        let opened = File(path: name, syncsFolder: isLog && flags & SQLITE_OPEN_CREATE != 0)
        head(file).pointee.file = Unmanaged.passRetained(opened)
        file.pointee.pMethods = UnsafePointer(methods)
        if !existed { opened.recorder?.record(.create(name)) }
        return SQLITE_OK
    }

    private static func makeMethods() -> sqlite3_io_methods {
        var methods = sqlite3_io_methods()
        // Version 2 has shared memory, and no mapping of the file.
        methods.iVersion = 2
        methods.xClose = { file in
            RecordingLayer.head(file!).pointee.file.release()
            let real = RecordingLayer.real(file!)
            return real.pointee.pMethods.pointee.xClose(real)
        }
        methods.xRead = { file, bytes, count, start in
            let real = RecordingLayer.real(file!)
            return real.pointee.pMethods.pointee.xRead(real, bytes, count, start)
        }
        methods.xWrite = { file, bytes, count, start in
            let real = RecordingLayer.real(file!)
            let result = real.pointee.pMethods.pointee.xWrite(real, bytes, count, start)
            let file = RecordingLayer.file(file!)
            if result == SQLITE_OK, let bytes {
                let copy = [UInt8](UnsafeRawBufferPointer(start: bytes, count: Int(count)))
                file.recorder?.record(.write(file.path, at: Int(start), copy))
            }
            return result
        }
        methods.xTruncate = { file, size in
            let real = RecordingLayer.real(file!)
            let result = real.pointee.pMethods.pointee.xTruncate(real, size)
            let file = RecordingLayer.file(file!)
            if result == SQLITE_OK { file.recorder?.record(.truncate(file.path, to: Int(size))) }
            return result
        }
        methods.xSync = { file, flags in
            let real = RecordingLayer.real(file!)
            let file = RecordingLayer.file(file!)
            if file.recorder?.sync(file.path) == true { return SQLITE_IOERR | 4 << 8 }
            if file.syncsFolder {
                file.recorder?.record(.syncFolder((file.path as NSString).deletingLastPathComponent))
                file.syncsFolder = false
            }
            return real.pointee.pMethods.pointee.xSync(real, flags)
        }
        methods.xFileSize = { file, size in
            let real = RecordingLayer.real(file!)
            return real.pointee.pMethods.pointee.xFileSize(real, size)
        }
        methods.xLock = { file, level in
            let real = RecordingLayer.real(file!)
            return real.pointee.pMethods.pointee.xLock(real, level)
        }
        methods.xUnlock = { file, level in
            let real = RecordingLayer.real(file!)
            return real.pointee.pMethods.pointee.xUnlock(real, level)
        }
        methods.xCheckReservedLock = { file, result in
            let real = RecordingLayer.real(file!)
            return real.pointee.pMethods.pointee.xCheckReservedLock(real, result)
        }
        methods.xFileControl = { file, operation, argument in
            let real = RecordingLayer.real(file!)
            return real.pointee.pMethods.pointee.xFileControl(real, operation, argument)
        }
        methods.xSectorSize = { file in
            let real = RecordingLayer.real(file!)
            return real.pointee.pMethods.pointee.xSectorSize(real)
        }
        methods.xDeviceCharacteristics = { file in
            let real = RecordingLayer.real(file!)
            return real.pointee.pMethods.pointee.xDeviceCharacteristics(real)
        }
        methods.xShmMap = { file, page, size, extends, address in
            let real = RecordingLayer.real(file!)
            return real.pointee.pMethods.pointee.xShmMap(real, page, size, extends, address)
        }
        methods.xShmLock = { file, offset, count, flags in
            let real = RecordingLayer.real(file!)
            return real.pointee.pMethods.pointee.xShmLock(real, offset, count, flags)
        }
        methods.xShmBarrier = { file in
            let real = RecordingLayer.real(file!)
            real.pointee.pMethods.pointee.xShmBarrier(real)
        }
        methods.xShmUnmap = { file, removes in
            let real = RecordingLayer.real(file!)
            return real.pointee.pMethods.pointee.xShmUnmap(real, removes)
        }
        return methods
    }
}
