internal import Glibc
internal import Linux
internal import LoopCore

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
        /// Why nothing can be shown. It is 400 for a path that is not well formed, and 403 for a file that may not be read. It is
        /// 404 if the path names nothing, or nothing that the server may show. It is 503 if the system lacks descriptors or
        /// memory, and 500 for other errors.
        case failure(status: Int)
    }

    /// File names need not be UTF-8.
    private let root: [UInt8]

    /// - Throws: `SiteServerError` if the folder cannot be read.
    init(_ folder: String) throws(SiteServerError) {
        do throws(SystemError) {
            _ = try Descriptor(opening: folder, O_RDONLY | O_DIRECTORY)
        } catch {
            throw SiteServerError(unreadable: folder, error.text)
        }
        guard let path = FileSystem.resolved(Array(folder.utf8)) else {
            throw SiteServerError(unreadable: folder, SystemError.lastText)
        }
        root = path == [Self.slash] ? [] : path
    }

    /// Finds what the path of a URL (percent-encoded, from the first slash on) leads to.
    func entry(_ path: String) -> Entry {
        guard path.utf8.first == Self.slash, let decoded = Self.decode(path) else { return .failure(status: 400) }
        do throws(SystemError) {
            return try entry(path, decoded)
        } catch {
            return .failure(status: Self.status(of: error.code))
        }
    }

    private func entry(_ path: String, _ decoded: [UInt8]) throws(SystemError) -> Entry {
        let segments = decoded.split(separator: Self.slash)
        if segments.contains(where: { $0.elementsEqual("..".utf8) }) { return .failure(status: 404) }
        let isFolderPath = decoded.last == Self.slash
        let name = root + [Self.slash] + segments.joined(separator: [Self.slash])
        let file = try openInside(name)
        let status = try file.status()
        switch status.kind {
        case .file where !isFolderPath:
            return Self.entry(file, status, ContentType.of(String(decoding: segments.last ?? [], as: UTF8.self)))
        case .folder:
            guard isFolderPath else {
                // Only one of several leading slashes remains, because "//host/" would lead to another site.
                return .redirect(to: "/" + path.drop { $0 == "/" } + "/")
            }
            do throws(SystemError) {
                let index = try openInside(name + Array("/index.html".utf8))
                let status = try index.status()
                if status.kind == .file { return Self.entry(index, status, ContentType.of("index.html")) }
            } catch {
                guard Self.status(of: error.code) == 404 else { throw error }
            }
            let title = String(decoding: decoded, as: UTF8.self)
            return .listing(FolderListing.html(title: title, names: try names(in: name)))
        default: return .failure(status: 404)
        }
    }

    /// The HTTP status for an error of the system: only what is not there is not found.
    static func status(of code: Int32) -> Int {
        switch code {
        case ENOENT, ENOTDIR, ELOOP, ENAMETOOLONG, ENXIO: 404
        case EACCES, EPERM: 403
        case EMFILE, ENFILE, ENOMEM: 503
        default: 500
        }
    }

    private static func entry(
        _ file: consuming Descriptor, _ status: FileStatus, _ contentType: String
    ) -> Entry {
        .file(
            file, bytes: UInt64(max(status.size, 0)), modified: status.modified.seconds,
            contentType: contentType)
    }

    /// Opens a file or folder.
    ///
    /// The open file is checked, not its name, so that it cannot be exchanged in between.
    /// - Throws: ``SystemError``, with the code ENOENT if it lies outside of the root.
    private func openInside(_ name: [UInt8]) throws(SystemError) -> Descriptor {
        let file = try Descriptor(opening: name, O_RDONLY | O_NONBLOCK | O_NOCTTY)
        guard (file.path ?? FileSystem.resolved(name)).map(isInside) == true else {
            throw SystemError("open what is outside of the folder", code: ENOENT)
        }
        return file
    }

    private func isInside(_ path: [UInt8]) -> Bool { path == root || path.starts(with: root + [Self.slash]) }

    /// The names in a folder, sorted by their bytes, with a closing slash for folders and without hidden names.
    ///
    /// Names that cannot be read are included. Links that lead nowhere, or out of the root, are not.
    private func names(in folder: [UInt8]) throws(SystemError) -> [[UInt8]] {
        var names: [[UInt8]] = []
        for name in try FileSystem.byteNames(in: folder) where name.first != UInt8(ascii: ".") {
            let path = folder + [Self.slash] + name
            do throws(SystemError) {
                let kind = try FileSystem.status(of: path).kind
                if let place = FileSystem.resolved(path), !isInside(place) { continue }
                switch kind {
                case .folder: names.append(name + [Self.slash])
                case .file: names.append(name)
                case .other: continue
                }
            } catch {
                if Self.status(of: error.code) != 404 { names.append(name) }
            }
        }
        return names.sorted { $0.lexicographicallyPrecedes($1) }
    }

    private static let slash = UInt8(ascii: "/")

    /// The path without its percent-encoding, or nil if that is broken or hides a zero byte.
    private static func decode(_ path: String) -> [UInt8]? {
        let bytes = Array(path.utf8)
        let decoded = PercentEncoding.decode(bytes[...])
        let isBroken = bytes.indices.contains { index in
            bytes[index] == UInt8(ascii: "%") && PercentEncoding.byte(at: index, of: bytes[...]) == nil
        }
        return isBroken || decoded.contains(0) ? nil : decoded
    }
}
