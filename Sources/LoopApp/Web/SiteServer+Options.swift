internal import LoopNode

extension SiteServer {
    /// How a server answers, and which faults it plays on request.
    package struct Options: Sendable {
        /// Whether a folder without `index.html` is answered with a page that links its contents, instead of 404.
        package var listsFolders = true

        /// The largest number of connections at a time. Further ones wait to be accepted.
        package var connectionsMax = 4096

        /// How long a connection may be idle before it is closed, in whole seconds. Zero keeps it for ever.
        package var idleLimit: Duration = .seconds(60)

        /// How long every request waits before it is answered, as if the server were far away. It blocks no thread.
        package var latency: Duration = .zero

        /// Called once for each request, with its path as sent (percent-encoded, without the query) and its method. If it returns
        /// nil, the folder answers. It runs on the server's thread, so it must be quick.
        package var handler: (@Sendable (_ path: String, _ method: String) -> Override?)?

        /// Creates the default options.
        package init() {}
    }

    /// An answer that replaces the folder's answer.
    package struct Override: Sendable {
        enum Answer {
            case folder
            case reply(Reply)
            case drop
        }

        var answer: Answer
        var latency: Duration?

        /// The folder's answer.
        package static var folder: Override { Override(answer: .folder) }

        /// No answer: the connection is closed.
        package static var drop: Override { Override(answer: .drop) }

        /// An answer with this status and a small page that names it.
        ///
        /// - Parameters:
        ///   - status: the status code.
        ///   - retryAfterSeconds: the value of a `Retry-After` header.
        package static func status(_ status: Int, retryAfterSeconds: Int? = nil) -> Override {
            var reply = Reply.page(status: status)
            if let retryAfterSeconds { reply.headers.append(("Retry-After", String(retryAfterSeconds))) }
            return Override(answer: .reply(reply))
        }

        /// A redirect.
        ///
        /// - Parameters:
        ///   - location: the `Location` header as it is sent, relative or absolute.
        ///   - status: the status code of the redirect.
        package static func redirect(to location: String, status: Int = 302) -> Override {
            var reply = Reply.page(status: status)
            reply.headers.append(("Location", location))
            return Override(answer: .reply(reply))
        }

        /// An answer with this body.
        package static func body(
            _ body: [UInt8], contentType: String, status: Int = 200, headers: [(String, String)] = []
        ) -> Override {
            let all = [("Content-Type", contentType)] + headers
            return Override(answer: .reply(Reply(status: status, headers: all, body: body)))
        }

        /// An answer with this text as UTF-8.
        package static func text(
            _ text: String, contentType: String = "text/html; charset=utf-8", status: Int = 200
        ) -> Override {
            body(Array(text.utf8), contentType: contentType, status: status)
        }

        /// This answer, sent `latency` after the request, whatever the options say.
        package func after(_ latency: Duration) -> Override {
            var copy = self
            copy.latency = latency
            return copy
        }
    }
}

/// An answer that is made in memory.
struct Reply: Sendable {
    var status: Int
    var headers: [(String, String)]
    var body: [UInt8]

    /// Headers of every answer. A browser must not guess another content type, and tells no other site the address of the page.
    static let commonHeaders = [("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "same-origin")]

    /// Headers of a page that the server makes. The page loads and runs nothing, and no page may frame it.
    static let pageHeaders = [
        ("Content-Type", "text/html; charset=utf-8"), ("Cache-Control", "no-cache"),
        (
            "Content-Security-Policy",
            "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        ),
    ]

    /// A small HTML page that names the status.
    static func page(status: Int) -> Reply {
        let title = "\(status) \(HTTPResponse.phrase(of: status) ?? "Status")"
        let html = "<!DOCTYPE html><html><head><title>\(title)</title></head><body><h1>\(title)</h1></body></html>\n"
        return Reply(status: status, headers: pageHeaders, body: Array(html.utf8))
    }
}
