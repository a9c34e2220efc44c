// Unsafe: libcurl lends the bytes of a body until the callback returns.

/// One fetch on its way: what was asked, what has come so far, and who waits for it.
///
/// Born on the task that fetches, then handed to the thread of the fetcher, which alone changes it.
final class Transfer: @unchecked Sendable {
    typealias Outcome = Result<FetchResponse, FetchError>

    /// Longer URLs are not asked for: servers refuse them long before, and libcurl has a limit of its own.
    static let urlBytesMax = 100_000

    let number: UInt64
    let request: FetchRequest
    private(set) var url: WebURL
    private(set) var redirects: [FetchResponse.Hop] = []
    private let continuation: CheckedContinuation<Outcome, Never>

    private var headers = ResponseHeaders()
    private var body: [UInt8] = []
    private var isBodyUnwanted = false
    private var isBodyCut = false

    init(number: UInt64, request: FetchRequest, url: WebURL, continuation: CheckedContinuation<Outcome, Never>) {
        self.number = number
        self.request = request
        self.url = url
        self.continuation = continuation
    }

    /// Takes one line of the header. False: the rest of the answer is not wanted.
    func receiveHeader(_ line: UnsafeRawBufferPointer) -> Bool {
        unsafe headers.receive(line)
        guard headers.isComplete, headers.status >= 200 else { return true }
        guard !isRedirect, isContentTypeUnwanted, request.method == .get else { return true }
        isBodyUnwanted = true
        // A short body costs less than a new connection.
        return headers.contentLength.map { $0 <= 65536 } ?? false
    }

    /// Takes a piece of the body. False: the rest of the answer is not wanted.
    func receiveBody(_ bytes: UnsafeRawBufferPointer) -> Bool {
        if isRedirect { return true }
        if isBodyUnwanted {
            isBodyCut = true
            return headers.contentLength != nil
        }
        let room = max(request.bodyBytesMax, 0) - body.count
        if body.isEmpty, let length = headers.contentLength { body.reserveCapacity(min(length, room, 1 << 20)) }
        unsafe body.append(contentsOf: bytes.prefix(room))
        isBodyCut = bytes.count > room
        return !isBodyCut
    }

    /// Whether libcurl's complaint that writing failed is only the echo of what was not wanted.
    var stoppedReading: Bool { isBodyUnwanted || isBodyCut }

    /// What the end of a hop means.
    enum Next {
        case hop
        case finished(Outcome)
    }

    /// Called when an answer is complete, or has come as far as it was wanted.
    func hopEnded(retryAfterSeconds: Int?) -> Next {
        if isBodyCut, !isBodyUnwanted, !request.truncatesBody {
            return .finished(.failure(error(.bodyTooLarge, "the body is larger than \(request.bodyBytesMax) bytes")))
        }
        var location: WebURL?
        if isRedirect, let reference = headers.location {
            do throws(WebURLError) {
                location = try url.resolve(reference)
            } catch {
                let reason = "redirect to \"\(reference)\": \(error)"
                if request.redirectsMax > 0 { return .finished(.failure(self.error(.malformedURL, reason))) }
            }
        }
        guard let location, request.redirectsMax > 0 else {
            return .finished(.success(response(location: location, retryAfterSeconds: retryAfterSeconds)))
        }
        redirects.append(.init(url: url.string, status: headers.status, location: location.description))
        if redirects.contains(where: { $0.url == location.string }) {
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
        isBodyCut = false
        return .hop
    }

    /// An error at the hop that this transfer is at.
    func error(_ code: FetchError.Code, _ reason: String, isTransient: Bool? = nil) -> FetchError {
        FetchError(code, url: url.string, reason: reason, redirects: redirects, isTransient: isTransient)
    }

    /// Hands the outcome to the task that waits; exactly once.
    func resume(_ outcome: Outcome) { continuation.resume(returning: outcome) }

    private var isRedirect: Bool {
        switch headers.status {
        case 301, 302, 303, 307, 308: headers.location != nil
        default: false
        }
    }

    private var isContentTypeUnwanted: Bool {
        guard let wanted = request.wantedContentTypes else { return false }
        return !wanted.contains(headers.contentType.map(FetchResponse.mediaType) ?? "")
    }

    private func response(location: WebURL?, retryAfterSeconds: Int?) -> FetchResponse {
        FetchResponse(
            status: headers.status, finalURL: url.string, redirects: redirects, contentType: headers.contentType,
            retryAfterSeconds: retryAfterSeconds, location: location?.description,
            body: isBodyUnwanted ? [] : body, bodyTruncated: isBodyCut || isBodyUnwanted)
    }
}
