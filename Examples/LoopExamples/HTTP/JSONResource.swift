import CBOR
internal import LoopFetch

/// A JSON document on an HTTP server.
enum JSONResource {
    /// Fetches and decodes the document.
    /// - Parameter limit: how long the answer may take.
    /// - Throws: ``ServerFailure``; `CancellationError` if the task was cancelled.
    static func get<Value: Decodable>(
        _ url: String, as type: Value.Type, limit: Duration = .seconds(10)
    ) async throws -> Value {
        var request = FetchRequest(url)
        request.timeout = limit
        request.accept = "application/json"
        let response: FetchResponse
        do {
            response = try await SharedFetchers.shared.fetcher(userAgent: "Loop/1 (examples)").fetch(request)
        } catch  where error.code == .cancelled && Task.isCancelled {
            throw CancellationError()
        } catch {
            throw ServerFailure("\(error)")
        }
        guard response.status == 200 else { throw ServerFailure(status: response.status) }
        do {
            let document = try CBOR.fromJSON(text: String(decoding: response.body, as: UTF8.self))
            return try CBOR.decode(type, from: document)
        } catch {
            throw ServerFailure("\(url) has no \(type) for us: \(error)")
        }
    }
}
