internal import Glibc
internal import Linux

/// The files below one folder, found by the paths of URLs. Nothing outside of the folder can be reached.
struct SiteFolder: Sendable {
    /// What a path leads to.
    enum Entry: ~Copyable {
        /// An open file.
        case file(Descriptor, bytes: UInt64, modified: Int, contentType: String)
        /// A folder whose path came without its closing slash.
        case redirect(to: String)
        /// A page with links to the contents of a folder.
        case listing([UInt8])
        /// The path names nothing, or nothing that the server may show.
        case nothing
        /// The path is not well formed.
        case malformed
    }

    private let root: String
    private let listsFolders: Bool
    private let followsLinksOut: Bool

    /// - Throws: `folderUnreadable`.
    init(_ folder: String, listsFolders: Bool, followsLinksOut: Bool) throws(SiteServerError) {
        do throws(SystemError) {
            _ = try Descriptor(opening: folder, O_RDONLY | O_DIRECTORY)
        } catch {
            throw Self.unreadable(folder, error.text)
        }
        guard let path = FileSystem.resolved(folder) else {
            throw Self.unreadable(folder, SystemError.lastText)
        }
        root = path == "/" ? "" : path
        self.listsFolders = listsFolders
        self.followsLinksOut = followsLinksOut
    }

    private static func unreadable(_ folder: String, _ reason: String) -> SiteServerError {
        SiteServerError(
            .folderUnreadable,
            "cannot serve the folder \"\(folder)\": \(reason); give a folder that can be read")
    }

    /// Finds what the path of a URL (percent-encoded, from the first slash on) leads to.
    func entry(_ path: String) -> Entry {
        guard path.utf8.first == UInt8(ascii: "/"), let decoded = Self.decode(path) else {
            return .malformed
        }
        let segments = decoded.split(separator: "/")
        if segments.contains("..") { return .nothing }
        let isFolderPath = decoded.utf8.last == UInt8(ascii: "/")
        let name = root + "/" + segments.joined(separator: "/")
        guard case .some(let file) = openInside(name), let status = try? file.status() else {
            return .nothing
        }
        switch status.kind {
        case .file where !isFolderPath:
            return Self.entry(file, status, ContentType.of(String(segments.last ?? "")))
        case .folder:
            guard isFolderPath else {
                // Only one of several leading slashes remains, because "//host/" would lead to another site.
                return .redirect(to: "/" + path.drop { $0 == "/" } + "/")
            }
            if case .some(let index) = openInside(name + "/index.html"), let status = try? index.status(),
                status.kind == .file
            {
                return Self.entry(index, status, ContentType.of("index.html"))
            }
            guard listsFolders, let names = names(in: name) else { return .nothing }
            return .listing(FolderListing.html(title: decoded, names: names))
        default: return .nothing
        }
    }

    private static func entry(
        _ file: consuming Descriptor, _ status: FileStatus, _ contentType: String
    ) -> Entry {
        .file(
            file, bytes: UInt64(max(status.size, 0)), modified: status.modified.seconds,
            contentType: contentType)
    }

    /// Opens a file or folder. Returns nil if it lies outside of the root.
    ///
    /// The open file is checked, not its name, so that it cannot be exchanged in between.
    private func openInside(_ name: String) -> Descriptor? {
        guard let file = try? Descriptor(opening: name, O_RDONLY | O_NONBLOCK | O_NOCTTY) else {
            return nil
        }
        if followsLinksOut { return file }
        guard let place = file.path ?? FileSystem.resolved(name) else { return nil }
        guard place == root || place.utf8.starts(with: (root + "/").utf8) else { return nil }
        return file
    }

    /// The names in a folder, sorted by their bytes, with a closing slash for folders and without hidden names.
    private func names(in folder: String) -> [String]? {
        guard let all = try? FileSystem.names(in: folder) else { return nil }
        return all.compactMap { name in
            guard !name.hasPrefix("."), case .some(let entry) = openInside(folder + "/" + name) else {
                return nil
            }
            switch try? entry.status().kind {
            case .folder: return name + "/"
            case .file: return name
            default: return nil
            }
        }.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    /// The path without its percent-encoding, or nil if that is broken or hides a zero byte.
    private static func decode(_ path: String) -> String? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(path.utf8.count)
        var rest = path.utf8.makeIterator()
        while let byte = rest.next() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.next().flatMap(hex), let low = rest.next().flatMap(hex) else {
                return nil
            }
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
