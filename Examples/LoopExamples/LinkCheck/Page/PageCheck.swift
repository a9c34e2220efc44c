internal import LoopCore
internal import LoopFetch

/// The effect: fetches one URL, parses it if it is a page, and sends the result.
struct PageCheck: Sendable {
    let job: FetchJob

    /// - Parameter failures: how often this has failed before.
    /// - Throws: failures that a retry may overcome.
    func run(failures: Int, _ send: Send<LinkCheck.Event>) async throws {
        do {
            let response = try await fetch()
            if let failure = FetchFailure(status: response.status, retryAfterSeconds: response.retryAfterSeconds) {
                throw failure
            }
            for event in events(response) { try await send(event) }
        } catch let failure as FetchFailure {
            if failure.isTransient, failures < job.limits.retries { throw failure }
            try await send(.failed(target: job.target, status: failure.status, error: failure.reason))
        }
    }

    // MARK: Fetching

    private func fetch() async throws -> FetchResponse {
        if job.isPageWanted, !hasFileSuffix { return try await fetch(.get) }
        do {
            let response = try await fetch(.head)
            let isPage = isPageType(response) && (200..<300).contains(response.status)
            // A server that does not support HEAD may answer anything. Only its request to wait is trusted.
            let isTrusted = response.status < 400 || response.status == 429
            if isTrusted, !(isPage && job.isPageWanted) { return response }
        } catch let failure as FetchFailure where Self.signsOfNoHEAD.contains(failure.reason) {
            // Such servers may also close the connection or not answer.
        }
        return try await fetch(.get)
    }

    /// Without a reason, the status is one of 400 and above.
    private static let signsOfNoHEAD: Set<String?> = [nil, "connection lost", "timed out", "no HTTP answer"]

    private func fetch(_ method: FetchRequest.Method) async throws -> FetchResponse {
        let response = try await fetch(request(method))
        guard response.setsCookie, response.location != nil else { return response }
        // A server that requires its cookie may redirect to the URL itself, directly or indirectly.
        var withCookies = request(method)
        withCookies.redirectsMax = Int(LinkCheckState.hopsMax)
        withCookies.keepsCookies = true
        do {
            let end = try await fetch(withCookies)
            return end.finalURL == response.finalURL && end.location == nil ? end : response
        } catch is FetchFailure {
            return response
        }
    }

    private func request(_ method: FetchRequest.Method) -> FetchRequest {
        var request = FetchRequest(job.url, method: method)
        request.timeout = .milliseconds(job.limits.timeoutMilliseconds)
        request.connectTimeout = min(request.connectTimeout, request.timeout)
        request.bodyBytesMax = job.limits.bodyBytesMax
        request.redirectsMax = 0
        request.wantedContentTypes = job.isPageWanted ? pageTypes : []
        return request
    }

    private func fetch(_ request: FetchRequest) async throws -> FetchResponse {
        do {
            return try await SharedFetchers.shared.fetcher(userAgent: job.limits.userAgent).fetch(request)
        } catch  where error.code == .cancelled && Task.isCancelled {
            throw CancellationError()
        } catch {
            throw FetchFailure(error)
        }
    }

    // MARK: Results

    private func events(_ response: FetchResponse) -> [LinkCheck.Event] {
        if let location = response.location {
            let line = PageLines.line(location: location, base: job.base)
            return [.fetched(target: job.target, answer: LinkCheck.Answer(status: response.status, location: line))]
        }
        var answer = LinkCheck.Answer(status: response.status)
        guard job.isPageWanted, (200..<300).contains(response.status) else {
            return [.fetched(target: job.target, answer: answer)]
        }
        guard isPageType(response), let url = try? WebURL(response.finalURL),
            let page = PageParser.parse(response.body, contentType: parsedType(response), url: url)
        else {
            answer.unread = "no page: \(response.mediaType ?? "no content type")"
            return [.fetched(target: job.target, answer: answer)]
        }
        let contents = PageLines(page, base: job.base).contents(bytesMax: Self.partBytesMax)
        var events: [LinkCheck.Event] = []
        for (number, content) in contents.dropLast().enumerated() {
            events.append(.part(target: job.target, number: number, content: content))
        }
        answer.page = contents.last
        if response.bodyTruncated {
            answer.unread = "not read whole: longer than \(job.limits.bodyBytesMax) bytes (see --body-limit)"
        } else if response.status == 206 {
            answer.unread = "not read whole: a part that was not asked for"
        } else if let reason = page.unread {
            answer.unread = "not read: \(reason)"
        }
        events.append(.fetched(target: job.target, answer: answer))
        return events
    }

    /// An event must be smaller than 512 KiB.
    private static let partBytesMax = 200 << 10

    // MARK: Content types

    private var path: Substring { job.url.prefix { $0 != "?" } }

    private var isMarkdownPath: Bool {
        let path = path.lowercased()
        return path.hasSuffix(".md") || path.hasSuffix(".markdown")
    }

    /// Servers that do not know Markdown send it as plain text.
    private var pageTypes: Set<String> {
        isMarkdownPath ? PageParser.mediaTypes.union(Self.plainTypes) : PageParser.mediaTypes
    }

    private static let plainTypes: Set<String> = ["text/plain", "text/x-markdown"]

    private func isPageType(_ response: FetchResponse) -> Bool { pageTypes.contains(response.mediaType ?? "") }

    private func parsedType(_ response: FetchResponse) -> String? {
        guard Self.plainTypes.contains(response.mediaType ?? ""), let type = response.contentType else {
            return response.contentType
        }
        return "text/markdown" + type.drop { $0 != ";" }
    }

    /// Whether the URL looks like a file that is no page, so that the header suffices.
    private var hasFileSuffix: Bool {
        guard let name = path.split(separator: "/").last, let dot = name.lastIndex(of: ".") else { return false }
        return Self.fileSuffixes.contains(name[name.index(after: dot)...].lowercased())
    }

    private static let fileSuffixes: Set<String> = [
        "7z", "avif", "bmp", "bz2", "css", "csv", "deb", "doc", "docx", "epub", "exe", "gif", "gz", "ico", "iso", "jar",
        "jpeg", "jpg", "js", "json", "map", "mjs", "mov", "mp3", "mp4", "odt", "ogg", "otf", "pdf", "png", "ppt",
        "pptx", "ps", "rar", "rpm", "rss", "svg", "tar", "tgz", "tif", "tiff", "ttf", "wasm", "wav", "webm",
        "webmanifest", "webp", "woff", "woff2", "xls", "xlsx", "xz", "zip", "zst",
    ]
}
