/// Fetches URLs: any number at a time, all on one thread of its own, with connections that are kept open.
///
/// ```swift
/// let fetcher = try Fetcher()
/// let response = try await fetcher.fetch(FetchRequest("http://example.com/"))
/// print(response.status, response.finalURL, response.body.count)
/// fetcher.shutdown()
/// ```
package final class Fetcher: Sendable {
    private let thread: FetchThread

    /// Creates a fetcher with its thread.
    ///
    /// - Throws: `unavailable` if libcurl or the thread could not be set up.
    package init(configuration: FetchConfiguration = FetchConfiguration()) throws(FetchError) {
        thread = try FetchThread(configuration: configuration)
    }

    deinit { thread.close() }

    /// Fetches a URL. Any HTTP status is an answer; an error means that there is none.
    ///
    /// Cancelling the task ends the transfer at once and throws `cancelled`.
    ///
    /// - Returns: the answer, after the redirects that the request allows.
    /// - Throws: the reason why there is no answer.
    package func fetch(_ request: FetchRequest) async throws(FetchError) -> FetchResponse {
        let url: WebURL
        do throws(WebURLError) {
            url = try WebURL(request.url)
        } catch {
            throw FetchError(.malformedURL, url: request.url, reason: error.description)
        }
        guard url.string.utf8.count <= Transfer.urlBytesMax else {
            throw FetchError(.malformedURL, url: request.url, reason: "longer than \(Transfer.urlBytesMax) bytes")
        }
        let number = thread.nextNumber()
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                thread.start(Transfer(number: number, request: request, url: url, continuation: continuation))
                // A cancellation before the start found nothing to cancel.
                if Task.isCancelled { thread.cancel(number) }
            }
        } onCancel: {
            thread.cancel(number)
        }
        return try result.get()
    }

    /// Ends all transfers with `cancelled`, closes all connections, and waits for the thread to end.
    ///
    /// Later fetches throw `cancelled` at once. A second call does nothing.
    package func shutdown() {
        thread.close()
        thread.join()
    }
}

/// The options of a fetcher for all its requests.
package struct FetchConfiguration: Sendable, Equatable {
    /// The number of simultaneous transfers, at least 1. Further ones wait, and their time limits begin when they start.
    package var transfersMax = 256

    /// The `User-Agent` header.
    package var userAgent = "Loop/1 (link checker)"

    /// The defaults.
    package init() {}
}
