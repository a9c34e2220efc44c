import Linux
import LoopApp
import LoopCore
import LoopNode
import LoopWire

/// A folder that `up --serve` serves on loopback for as long as the loop runs.
struct ServedSite {
    private let server: SiteServer
    private let folder: String
    /// The URL of the folder, or of the page in it that was named.
    let url: String

    /// A line for people.
    var line: String { "serving \(folder) at \(url)" }

    /// Serves a folder, or the folder of a page. It uses the folder's own port if that is free: a loop whose requests name the
    /// address can continue only at the same address.
    ///
    /// - Throws: `UsageError` if nothing has that name, or `SiteServerError`.
    init(_ path: String) throws {
        var (folder, page) = (path, "")
        switch FileSystem.status(of: path)?.kind {
        case .folder: break
        case .file:
            let parts = path.split(separator: "/", omittingEmptySubsequences: false)
            folder = parts.count == 1 ? "." : parts.dropLast().joined(separator: "/")
            if folder.isEmpty { folder = "/" }
            page = PercentEncoding.encode((parts.last ?? "").utf8)
        case .other, nil:
            throw UsageError(
                message: "--serve cannot be '\(Redaction.of(value: path))': nothing of that name is here",
                hint: "it takes a folder, or a page in one")
        }
        do throws(SiteServerError) {
            server = try SiteServer(folder: folder, port: Self.port(of: folder))
        } catch {
            guard error.isAddressUnavailable else { throw error }
            server = try SiteServer(folder: folder)
        }
        self.folder = folder
        url = "http://127.0.0.1:\(server.port)/\(page)"
    }

    func stop() { server.stop() }

    /// The ports of folders. Reducers claim others (from 20 010 on), as does the system for outgoing connections (from 32 768 on).
    static let ports: ClosedRange<UInt16> = 10_000...19_999

    /// The port at which a folder is served. It depends only on the folder's path without links and dots, so that it is the same the
    /// next time.
    static func port(of folder: String) -> UInt16 {
        let path = FileSystem.resolved(folder) ?? folder
        return ports.lowerBound + UInt16(StableHash.fnv1a(path.utf8) % UInt64(ports.count))
    }
}
