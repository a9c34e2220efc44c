internal import LoopNode

/// A small HTTP server for the examples, with data of the repository and faults on request.
///
/// | path | answer |
/// |---|---|
/// | `/movies/3` | the third page of all films |
/// | `/movie/17` | one film with all that is known of it |
///
/// Documents are JSON.
package final class StubServer: Sendable {
    /// The services that examples need from the server.
    package enum Service: Sendable {
        /// Films: pages and details.
        case movies
    }

    private let handler: StubRequestHandler
    private let daemon: HTTPDaemon

    /// Starts a server on the loopback address.
    /// - Parameters:
    ///   - data: the folder of the data, which has `movies.json`.
    ///   - port: the port, or zero for a free one.
    /// - Throws: ``StubData/Unreadable`` if the data cannot be read; the system's error if it cannot listen.
    package init(data: String, port: UInt16 = 0, faults: FaultPlan = FaultPlan()) throws {
        handler = StubRequestHandler(movies: try StubData.movies(in: data), faults: faults)
        daemon = try HTTPDaemon(
            host: "127.0.0.1", port: port, connectionsMax: 4096, idleLimit: .seconds(60), handler: handler)
    }

    deinit { stop() }

    /// The root URL of the server, with its closing slash.
    package var address: String { "http://127.0.0.1:\(daemon.port)/" }

    /// The number of requests for each path.
    package var requests: [String: Int] { handler.requests }

    /// Closes all connections. A second call does nothing.
    package func stop() { daemon.stop() }
}
