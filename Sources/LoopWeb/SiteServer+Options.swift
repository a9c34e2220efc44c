extension SiteServer {
    /// How a server answers, and which faults it plays on request.
    public struct Options: Sendable {
        /// Whether a folder without `index.html` is answered with a page that links what is in it (else with 404).
        public var listsFolders = true

        /// Whether a symbolic link may lead out of the folder. Off: what it leads to does not exist.
        public var followsLinksOut = false

        /// Threads that answer requests, 1 to 64.
        public var threads = 2

        /// Connections at a time; more of them wait to be accepted.
        public var connectionsMax = 4096

        /// How long a connection may be idle before it is closed, in whole seconds; zero: for ever.
        public var idleLimit: Duration = .seconds(60)

        /// How long every request waits before it is answered, as if the server were far away. It blocks no thread.
        public var latency: Duration = .zero

        /// How many distinct paths `requests` counts; later paths are counted in `requestCount` only.
        public var countedPathsMax = 100_000

        /// Asked once for each request, with its path as it was sent (percent-encoded, without the query) and its
        /// method; nil answers it from the folder. Called on the server's threads, several at a time: it must be quick.
        public var handler: (@Sendable (_ path: String, _ method: String) -> Override?)?

        /// The defaults.
        public init() {}
    }

    /// What is answered in place of what the folder holds.
    public struct Override: Sendable {
        enum Answer {
            case folder
            case reply(Reply)
            case drop
        }

        var answer: Answer
        var latency: Duration?

        /// The answer that the folder gives.
        public static var folder: Override { Override(answer: .folder) }

        /// The connection is closed without an answer.
        public static var drop: Override { Override(answer: .drop) }

        /// This status, with a small page that names it.
        ///
        /// - Parameters:
        ///   - status: the status code.
        ///   - retryAfterSeconds: The value of a `Retry-After` header.
        public static func status(_ status: Int, retryAfterSeconds: Int? = nil) -> Override {
            var reply = Reply.page(status: status)
            if let retryAfterSeconds { reply.headers.append(("Retry-After", String(retryAfterSeconds))) }
            return Override(answer: .reply(reply))
        }

        /// A redirect.
        ///
        /// - Parameters:
        ///   - location: The `Location` header as it is sent, relative or absolute.
        ///   - status: the status code of the redirect.
        public static func redirect(to location: String, status: Int = 302) -> Override {
            var reply = Reply.page(status: status)
            reply.headers.append(("Location", location))
            return Override(answer: .reply(reply))
        }

        /// This body.
        public static func body(
            _ body: [UInt8], contentType: String, status: Int = 200, headers: [(String, String)] = []
        ) -> Override {
            let all = [("Content-Type", contentType)] + headers
            return Override(answer: .reply(Reply(status: status, headers: all, body: body)))
        }

        /// This text as UTF-8.
        public static func text(
            _ text: String, contentType: String = "text/html; charset=utf-8", status: Int = 200
        ) -> Override {
            body(Array(text.utf8), contentType: contentType, status: status)
        }

        /// The same answer, `latency` after the request, whatever the options say.
        public func after(_ latency: Duration) -> Override {
            var copy = self
            copy.latency = latency
            return copy
        }
    }
}

/// An answer that is made up in memory.
struct Reply: Sendable {
    var status: Int
    var headers: [(String, String)]
    var body: [UInt8]

    /// Of every answer: a browser takes it for what it is said to be, and tells no other site where it came from.
    static let commonHeaders = [("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "same-origin")]

    /// Of a page that is made here: it loads and runs nothing, and no page may frame it.
    static let pageHeaders = [
        ("Content-Type", "text/html; charset=utf-8"), ("Cache-Control", "no-cache"),
        (
            "Content-Security-Policy",
            "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        ),
    ]

    /// A small HTML page that names the status.
    static func page(status: Int) -> Reply {
        let title = "\(status) \(reason(status))"
        let html = "<!DOCTYPE html><html><head><title>\(title)</title></head><body><h1>\(title)</h1></body></html>\n"
        return Reply(status: status, headers: pageHeaders, body: Array(html.utf8))
    }

    private static func reason(_ status: Int) -> String {
        switch status {
        case 200: "OK"
        case 301: "Moved Permanently"
        case 302: "Found"
        case 303: "See Other"
        case 307: "Temporary Redirect"
        case 308: "Permanent Redirect"
        case 400: "Bad Request"
        case 403: "Forbidden"
        case 404: "Not Found"
        case 405: "Method Not Allowed"
        case 410: "Gone"
        case 421: "Misdirected Request"
        case 429: "Too Many Requests"
        case 500: "Internal Server Error"
        case 502: "Bad Gateway"
        case 503: "Service Unavailable"
        case 504: "Gateway Timeout"
        default: "Status"
        }
    }
}
