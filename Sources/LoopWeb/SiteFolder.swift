internal import Glibc

/// The files below one folder, by the paths of URLs. Nothing outside of the folder can be reached through it.
struct SiteFolder: Sendable {
    /// What a path leads to.
    enum Entry {
        /// An open file; whoever gets it closes it.
        case file(descriptor: Int32, bytes: UInt64, modified: Int, contentType: String)
        /// A folder that was asked for without its closing slash.
        case redirect(to: String)
        /// A page that links what is in a folder.
        case listing([UInt8])
        /// Nothing is there, or nothing that may be shown.
        case nothing
        /// The path is not well formed.
        case malformed
    }

    private let root: String
    private let listsFolders: Bool
    private let followsLinksOut: Bool

    /// - Throws: `folderUnreadable`.
    init(_ folder: String, listsFolders: Bool, followsLinksOut: Bool) throws(SiteServerError) {
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0, let resolved = realpath(folder, nil) else {
            let reason = String(cString: strerror(errno))
            throw SiteServerError(
                .folderUnreadable, "cannot serve the folder \"\(folder)\": \(reason); give a folder that can be read")
        }
        close(descriptor)
        defer { free(resolved) }
        let path = String(cString: resolved)
        root = path == "/" ? "" : path
        self.listsFolders = listsFolders
        self.followsLinksOut = followsLinksOut
    }

    /// What the path of a URL (percent-encoded, from the first slash on) leads to.
    func entry(_ path: String) -> Entry {
        guard path.utf8.first == UInt8(ascii: "/"), let decoded = Self.decode(path) else { return .malformed }
        let segments = decoded.split(separator: "/")
        if segments.contains("..") { return .nothing }
        let isFolderPath = decoded.utf8.last == UInt8(ascii: "/")
        let name = root + "/" + segments.joined(separator: "/")
        guard let (descriptor, status) = openInside(name) else { return .nothing }
        switch status.st_mode & S_IFMT {
        case S_IFREG where !isFolderPath:
            return file(descriptor, status, ContentType.of(String(segments.last ?? "")))
        case S_IFDIR:
            close(descriptor)
            guard isFolderPath else {
                // Of several leading slashes one remains: "//host/" would lead to another site.
                return .redirect(to: "/" + path.drop { $0 == "/" } + "/")
            }
            if let (index, status) = openInside(name + "/index.html") {
                if status.st_mode & S_IFMT == S_IFREG { return file(index, status, ContentType.of("index.html")) }
                close(index)
            }
            guard listsFolders, let names = names(in: name) else { return .nothing }
            return .listing(FolderListing.html(title: decoded, names: names))
        default:
            close(descriptor)
            return .nothing
        }
    }

    private func file(_ descriptor: Int32, _ status: stat, _ contentType: String) -> Entry {
        .file(
            descriptor: descriptor, bytes: UInt64(max(status.st_size, 0)), modified: status.st_mtim.tv_sec,
            contentType: contentType)
    }

    /// Opens a file or folder, and closes it again when it turns out to lie outside of the root.
    ///
    /// The question is asked of the open file, not of its name, so that nobody can exchange it in between.
    private func openInside(_ name: String) -> (Int32, stat)? {
        let descriptor = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { return nil }
        var status = stat()
        guard fstat(descriptor, &status) == 0, followsLinksOut || isInside(descriptor, name) else {
            close(descriptor)
            return nil
        }
        return (descriptor, status)
    }

    private func isInside(_ descriptor: Int32, _ name: String) -> Bool {
        let place: String
        let buffer = UnsafeMutablePointer<CChar>.allocate(capacity: Int(PATH_MAX))
        defer { buffer.deallocate() }
        let length = readlink("/proc/self/fd/\(descriptor)", buffer, Int(PATH_MAX) - 1)
        if length > 0 {
            buffer[length] = 0
            place = String(cString: buffer)
        } else if realpath(name, buffer) != nil {
            place = String(cString: buffer)
        } else {
            return false
        }
        return place == root || place.utf8.starts(with: (root + "/").utf8)
    }

    /// The names in a folder in the order of their bytes, folders with a closing slash, without hidden ones.
    private func names(in folder: String) -> [String]? {
        guard let stream = opendir(folder) else { return nil }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            guard !name.hasPrefix("."), let (descriptor, status) = openInside(folder + "/" + name) else { continue }
            close(descriptor)
            switch status.st_mode & S_IFMT {
            case S_IFDIR: names.append(name + "/")
            case S_IFREG: names.append(name)
            default: continue
            }
        }
        return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    /// The path without its percent-encoding; nil where that is broken or hides a zero byte.
    private static func decode(_ path: String) -> String? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(path.utf8.count)
        var rest = path.utf8.makeIterator()
        while let byte = rest.next() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.next().flatMap(hex), let low = rest.next().flatMap(hex) else { return nil }
            bytes.append(high << 4 | low)
        }
        guard !bytes.contains(0) else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func hex(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
