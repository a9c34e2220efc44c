internal import CHTTPD
package import Linux

/// What answers the requests of a daemon. Called on the daemon's threads, several at a time.
package protocol HTTPHandler: AnyObject, Sendable {
    /// Called once for each request, with its headers.
    func begin(path: String, method: String) -> any HTTPExchange
}

/// One request, from its headers to the end of its answer. Of one thread.
package protocol HTTPExchange: AnyObject {
    /// The next bytes of the request's body.
    func receive(_ piece: [UInt8])
    /// The request is complete. Called again after a rest.
    func answer(_ request: borrowing HTTPRequest) -> HTTPAnswer
    /// Called once, however the request ended.
    func end()
}

/// What is answered to a request.
package enum HTTPAnswer: ~Copyable {
    /// These bytes.
    case bytes([UInt8], status: Int, headers: [(String, String)])
    /// The first bytes of an open file, which are not copied through this process.
    case file(Descriptor, bytes: UInt64, headers: [(String, String)])
    /// Whatever the source has to say, until it ends.
    case stream(any HTTPSource, headers: [(String, String)])
    /// Nothing yet: the exchange is asked again after this time. No thread waits for it.
    case later(Duration)
    /// The connection is closed.
    case drop
}

/// Where the bytes of an answer come from that goes on for long. It is kept until the connection is gone.
package protocol HTTPSource: AnyObject, Sendable {
    /// The next bytes; none: the connection rests, and will be woken; nil: that was all.
    func next(atMost count: Int) -> ArraySlice<UInt8>?
    /// The connection is gone.
    func connectionEnded()
}
