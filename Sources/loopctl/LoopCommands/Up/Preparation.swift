import Linux
import LoopApp
import LoopNode
import LoopWire

/// What `up` prepares for a loop before its processes start. Loops that are not in `all` need nothing.
struct Preparation: Sendable {
    let loop: String
    /// One sentence for the help of `up`.
    let help: String
    let prepare: @Sendable (inout UpRequest, [String: String]) throws -> Prepared?

    /// A service that runs as long as the loop.
    struct Prepared: Sendable {
        /// A line for people about it.
        let line: String
        let stop: @Sendable () -> Void
    }

    static let all: [Preparation] = [
        Preparation(
            loop: "linkcheck",
            help: """
                For linkcheck, a SITE that is a folder (or an HTML or Markdown file in one) is served on loopback for as \
                long as the check runs, at the same port each time.
                """,
            prepare: serveSite)
    ]

    /// Prepares the request's loop, and rewrites its arguments accordingly.
    static func prepare(_ request: inout UpRequest, environment: [String: String]) throws -> Prepared? {
        guard let preparation = all.first(where: { $0.loop == request.loop }) else { return nil }
        return try preparation.prepare(&request, environment)
    }

    @Sendable private static func serveSite(
        _ request: inout UpRequest, environment: [String: String]
    ) throws -> Prepared? {
        guard let site = LocalSite(in: request.loopArguments, environment: environment, kindOf: fileKind) else {
            if let word = LocalSite.misnamed(in: request.loopArguments, kindOf: fileKind) {
                throw UsageError(
                    message: "SITE cannot be '\(Redaction.of(value: word))': nothing of that name is here",
                    hint: "it takes an http or https URL, a folder, or an HTML or Markdown file")
            }
            return nil
        }
        let server = try serve(site.folder)
        let url = "http://127.0.0.1:\(server.port)/\(site.start)"
        request.loopArguments = site.arguments(request.loopArguments, url: url)
        return Prepared(line: "serving \(site.folder) at \(url)", stop: { server.stop() })
    }

    /// Serves a folder, at its own port if that is free. The site's address is part of a check, so an interrupted check can
    /// continue only at the same address.
    private static func serve(_ folder: String) throws(SiteServerError) -> SiteServer {
        do {
            return try SiteServer(folder: folder, port: SitePort.port(of: folder))
        } catch  where error.isAddressUnavailable {
            return try SiteServer(folder: folder)
        }
    }

    private static func fileKind(_ path: String) -> LocalSite.FileKind {
        switch FileSystem.status(of: path)?.kind {
        case .folder: .folder
        case .file: .file
        case .other, nil: .nothing
        }
    }
}

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
