// Unsafe: libcurl lends the bytes of a body until the callback returns.

internal import CCurl

/// One fetch under way: its request, the answer so far, and the waiting continuation.
///
/// It is created on the task that fetches, and then passed to the fetcher's thread, which alone changes it.
final class Transfer: @unchecked Sendable {
    typealias Outcome = Result<FetchResponse, FetchError>

    /// Longer URLs are not requested: servers refuse far shorter ones, and libcurl has a limit of its own.
    static let urlBytesMax = 100_000

    /// The limit of all headers of an answer, as in browsers. libcurl has a limit of its own for one line.
    private static let headerBytesMax = 256 << 10

    let number: UInt64
    let request: FetchRequest
    private(set) var url: WebURL
    private(set) var redirects: [FetchResponse.Hop] = []
    private let continuation: CheckedContinuation<Outcome, Never>

    private var headers = ResponseHeaders()
    private var headerBytes = 0
    private var body: [UInt8] = []
    private var isBodyUnwanted = false
    private var isBodyCut = false
    private var inflater: Inflater?
    private var bodyFailure: String?

    init(number: UInt64, request: FetchRequest, url: WebURL, continuation: CheckedContinuation<Outcome, Never>) {
        self.number = number
        self.request = request
        self.url = url
        self.continuation = continuation
    }

    /// Reads one line of the header. It returns false if the rest of the answer is not needed.
    func receiveHeader(_ line: UnsafeRawBufferPointer) -> Bool {
        headerBytes += line.count
        guard headerBytes <= Self.headerBytesMax else { return false }
        unsafe headers.receive(line)
        guard headers.isComplete, headers.status >= 200 else { return true }
        guard !isRedirect, isContentTypeUnwanted, request.method == .get else { return true }
        isBodyUnwanted = true
        // Reading a short body costs less than a new connection.
        return headers.contentLength.map { $0 <= 65536 } ?? false
    }

    /// Reads a piece of the body. It returns false if the rest of the answer is not needed.
    func receiveBody(_ bytes: UnsafeRawBufferPointer) -> Bool {
        if isRedirect { return true }
        if isBodyUnwanted {
            isBodyCut = true
            return headers.contentLength != nil
        }
        // One byte more shows that the body is longer.
        let bytesMax = min(max(request.bodyBytesMax, 0), .max - 1)
        if body.isEmpty, inflater == nil {
            if let length = headers.contentLength { body.reserveCapacity(min(length, bytesMax, 1 << 20)) }
            guard unsafe beginBody(bytes.first) else { return false }
        }
        if let inflater {
            guard unsafe inflater.inflate(bytes, into: &body, bytesMax: bytesMax) else {
                let encoding = headers.contentCodings.joined(separator: ", ")
                let isDamaged = !body.isEmpty || inflater.isPastHeader
                bodyFailure = isDamaged ? "damaged \(encoding)" : "not \(encoding), although it says so"
                return false
            }
        } else {
            unsafe body.append(contentsOf: bytes.prefix(bytesMax + 1 - body.count))
        }
        isBodyCut = body.count > bytesMax
        if isBodyCut { body.removeLast(body.count - bytesMax) }
        return !isBodyCut
    }

    /// Chooses how the body is decoded. It returns false if that is not known.
    private func beginBody(_ first: UInt8?) -> Bool {
        switch headers.contentCodings {
        case []: break
        case ["gzip"], ["x-gzip"]: inflater = Inflater(isRaw: false)
        // Some servers leave out the header of zlib, whose first byte has the method 8. The piece may be that byte alone.
        case ["deflate"]: inflater = Inflater(isRaw: (first ?? 0x78) & 0x8F != 0x08)
        case let codings:
            bodyFailure = "content encoding \(codings.joined(separator: ", ").prefix(40))"
            return false
        }
        return true
    }

    /// Whether a body was wanted and no byte of it came, although the server did not say that it is empty.
    private var lacksBody: Bool {
        request.method == .get && !isBodyUnwanted && body.isEmpty && inflater == nil && bodyFailure == nil
            && headers.contentLength != 0 && (200..<300).contains(headers.status) && hasContent
    }

    /// Whether the status allows a body.
    private var hasContent: Bool { headers.status != 204 && headers.status != 205 }

    /// Whether libcurl's error that writing failed only results from our refusal to read on.
    var stoppedReading: Bool { isBodyUnwanted || isBodyCut || bodyFailure != nil }

    /// Whether libcurl's error that writing failed, or that memory is short, means that the headers are too long.
    ///
    /// libcurl reports a line beyond its limit as a lack of memory, so that this cannot be told from one.
    func hasTooLongHeaders(_ result: CURLcode) -> Bool {
        if result == CURLE_WRITE_ERROR { return headerBytes > Self.headerBytesMax }
        return result == CURLE_OUT_OF_MEMORY && headerBytes > 0 && !headers.isComplete
    }

    /// The consequence of the end of a hop.
    enum Next {
        case hop
        case finished(Outcome)
    }

    /// Called when an answer is complete, or has arrived as far as it is needed.
    func hopEnded(retryAfterSeconds: Int?) -> Next {
        // libcurl takes a lost connection for the end of the headers.
        guard headers.isComplete else {
            return .finished(.failure(error(.connectionLost, "the headers are cut short")))
        }
        if lacksBody { _ = beginBody(nil) }
        if let bodyFailure { return .finished(.failure(error(.unreadableBody, bodyFailure))) }
        if let inflater, !inflater.isComplete, !isBodyCut {
            // Without a length, a lost connection looks like this.
            return .finished(.failure(error(.unreadableBody, "cut short", isTransient: true)))
        }
        var location: WebURL?
        if isRedirect {
            do throws(WebURLError) {
                location = try target()
            } catch {
                let reason = "redirect to \"\(refusedLocation)\": \(error)"
                if request.redirectsMax > 0 { return .finished(.failure(self.error(.malformedURL, reason))) }
            }
        }
        guard let location, request.redirectsMax > 0 else {
            return .finished(.success(response(location: location, retryAfterSeconds: retryAfterSeconds)))
        }
        redirects.append(.init(url: url.string, status: headers.status, location: location.description))
        if !request.keepsCookies, redirects.contains(where: { $0.url == location.string }) {
            return .finished(.failure(error(.tooManyRedirects, "redirects come back to \(location.string)")))
        }
        guard redirects.count <= request.redirectsMax else {
            return .finished(.failure(error(.tooManyRedirects, "more than \(request.redirectsMax) redirects")))
        }
        guard location.string.utf8.count <= Self.urlBytesMax else {
            return .finished(.failure(error(.malformedURL, "redirect to more than \(Self.urlBytesMax) bytes")))
        }
        url = location.withoutFragment
        headers = ResponseHeaders()
        headerBytes = 0
        isBodyCut = false
        return .hop
    }

    /// An error at the present hop.
    func error(_ code: FetchError.Code, _ reason: String, isTransient: Bool? = nil) -> FetchError {
        FetchError(
            code, url: url.string, status: headers.status == 0 ? nil : headers.status, reason: reason,
            redirects: redirects,
            isTransient: isTransient)
    }

    /// Passes the outcome to the waiting task, exactly once.
    func resume(_ outcome: Outcome) { continuation.resume(returning: outcome) }

    private var isRedirect: Bool {
        switch headers.status {
        case 301, 302, 303, 307, 308: !headers.locations.isEmpty
        default: false
        }
    }

    private var isContentTypeUnwanted: Bool {
        guard let wanted = request.wantedContentTypes else { return false }
        return !wanted.contains(headers.contentType.map(FetchResponse.mediaType) ?? "")
    }

    /// The target of a redirect.
    private func target() throws(WebURLError) -> WebURL {
        guard headers.locations.count == 1 else { throw .ambiguous }
        let target = try url.resolve(bytes: headers.locations[0])
        // It would be in the journal and in the report.
        if target.hasUser { throw .user }
        return target
    }

    /// The targets of a redirect that is not followed, as one text without user names and passwords.
    private var refusedLocation: String {
        headers.locations.map { WebURL.withoutUser(String(decoding: $0, as: UTF8.self)) }.joined(separator: ", ")
    }

    private func response(location: WebURL?, retryAfterSeconds: Int?) -> FetchResponse {
        let refused =
            location == nil && !headers.locations.isEmpty && (300..<400).contains(headers.status)
            && headers.status != 304
        return FetchResponse(
            status: headers.status, finalURL: url.string, redirects: redirects,
            contentType: hasContent ? headers.contentType : nil,
            retryAfterSeconds: retryAfterSeconds, location: location?.description,
            refusedLocation: refused ? refusedLocation : nil,
            setsCookie: headers.setsCookie,
            body: isBodyUnwanted ? [] : body, bodyTruncated: isBodyCut || isBodyUnwanted)
    }
}
