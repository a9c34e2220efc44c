import LoopCore

/// What a disk holds of files while changes are under way, and what it may hold after the power failed.
///
/// A change is certain once its file was synced; a name, once its folder was. Of everything else any part may be there:
/// each write or none of it, or the first sectors of it, in any order. A sector of 512 bytes is written whole or not at
/// all. Names of one folder come in order.
struct ModelDisk {
    private enum Change {
        case write(at: Int, [UInt8])
        case truncate(to: Int)
    }

    private struct File {
        var durable: [UInt8] = []
        var pending: [Change] = []
    }

    private enum NameChange {
        case set(String, Int)
        case remove(String)
    }

    /// How much of what is not certain is there.
    enum Luck: CaseIterable {
        case none, all, some
    }

    private var files: [File] = []
    private var names: [String: Int] = [:]
    private var durableNames: [String: Int] = [:]
    private var pendingNames: [(folder: String, change: NameChange)] = []
    private let root: String

    init(root: String) {
        self.root = root
        // The folder of the journal itself is there.
        files.append(File())
        names[root] = 0
        durableNames[root] = 0
    }

    mutating func apply(_ operation: Operation) {
        switch operation {
        case .create(let path), .makeFolder(let path):
            guard names[path] == nil else { return }
            files.append(File())
            set(path, files.count - 1)
        case .write(let path, let start, let bytes):
            guard let number = names[path] else { return }
            files[number].pending.append(.write(at: start, bytes))
        case .truncate(let path, let size):
            guard let number = names[path] else { return }
            files[number].pending.append(.truncate(to: size))
        case .sync(let path):
            guard let number = names[path] else { return }
            for change in files[number].pending { Self.apply(change, to: &files[number].durable) }
            files[number].pending = []
        case .failedSync(let path):
            guard let number = names[path] else { return }
            files[number].pending = []
        case .remove(let path):
            names[path] = nil
            pendingNames.append((Self.folder(path), .remove(path)))
        case .rename(let path, let other):
            guard let number = names[path] else { return }
            names[path] = nil
            pendingNames.append((Self.folder(path), .remove(path)))
            set(other, number)
        case .syncFolder(let folder):
            for (other, change) in pendingNames where other == folder { Self.apply(change, to: &durableNames) }
            pendingNames.removeAll { $0.folder == folder }
        case .acknowledged, .snapshots: break
        }
    }

    /// The files as they may be found.
    func afterPowerLoss(_ luck: Luck, _ random: inout SeededRandom) -> [String: [UInt8]] {
        var found = durableNames
        var stopped: Set<String> = []
        for (folder, change) in pendingNames where !stopped.contains(folder) {
            if luck == .none || luck == .some && Int.random(in: 0..<4, using: &random) == 0 {
                stopped.insert(folder)
            } else {
                Self.apply(change, to: &found)
            }
        }
        var contents: [String: [UInt8]] = [:]
        for (path, number) in found.sorted(by: { $0.key < $1.key })
        where path != root && found[Self.folder(path)] != nil {
            var bytes = files[number].durable
            for change in files[number].pending {
                switch luck {
                case .none: break
                case .all: Self.apply(change, to: &bytes)
                case .some:
                    switch Int.random(in: 0..<5, using: &random) {
                    case 0, 1: Self.apply(change, to: &bytes)
                    case 2: Self.apply(Self.torn(change, &random), to: &bytes)
                    default: break
                    }
                }
            }
            contents[path] = bytes
        }
        return contents
    }

    private mutating func set(_ path: String, _ number: Int) {
        names[path] = number
        pendingNames.append((Self.folder(path), .set(path, number)))
    }

    private static func torn(_ change: Change, _ random: inout SeededRandom) -> Change {
        guard case .write(let start, let bytes) = change else { return change }
        // Up to the end of a sector of the disk.
        let sectors = (start / 512 + 1)...max(start / 512 + 1, (start + bytes.count) / 512)
        let end = Int.random(in: sectors, using: &random) * 512
        return .write(at: start, Array(bytes.prefix(end - start)))
    }

    private static func apply(_ change: Change, to bytes: inout [UInt8]) {
        switch change {
        case .write(let start, let more):
            if bytes.count < start + more.count {
                bytes.append(contentsOf: repeatElement(0, count: start + more.count - bytes.count))
            }
            bytes.replaceSubrange(start..<start + more.count, with: more)
        case .truncate(let size):
            if size < bytes.count { bytes.removeLast(bytes.count - size) }
        }
    }

    private static func apply(_ change: NameChange, to names: inout [String: Int]) {
        switch change {
        case .set(let path, let number): names[path] = number
        case .remove(let path): names[path] = nil
        }
    }

    private static func folder(_ path: String) -> String {
        path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ""
    }
}
