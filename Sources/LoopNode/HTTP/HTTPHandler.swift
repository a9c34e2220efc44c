internal import CHTTPD
package import Linux

/// Answers the requests of a daemon. Called on the daemon's thread.
package protocol HTTPHandler: AnyObject, Sendable {
    /// Called once for each request, with its headers.
    func begin(path: String, method: String) -> any HTTPExchange
}

/// One request, from its headers to the end of its answer. Used by one thread only.
package protocol HTTPExchange: AnyObject {
    /// The next bytes of the request's body.
    func receive(_ piece: [UInt8])
    /// The request is complete. Called again after a rest.
    func answer(_ request: borrowing HTTPRequest) -> HTTPAnswer
    /// Called once, however the request ended.
    func end()
}

/// The answer to a request.
package enum HTTPAnswer: ~Copyable {
    /// These bytes.
    case reply(HTTPReply)
    /// The first bytes of an open file, which are not copied through this process.
    case file(Descriptor, bytes: UInt64, headers: [(String, String)])
    /// The bytes of the source, until it ends.
    case stream(any HTTPSource, headers: [(String, String)])
    /// Nothing yet: `answer` is called again after this time. No thread waits meanwhile.
    case later(Duration)
    /// The connection is closed.
    case drop
}

/// Makes the bytes of an answer that goes on for long. It is kept until the connection is gone.
package protocol HTTPSource: AnyObject, Sendable {
    /// The next bytes. An empty slice means that the connection rests until it is woken. Nil ends the answer.
    func next(atMost count: Int) -> ArraySlice<UInt8>?
    /// The connection is gone.
    func connectionEnded()
}
