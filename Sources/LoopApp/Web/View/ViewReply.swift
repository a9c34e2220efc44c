internal import LoopNode

/// Answers of a view's server.
extension HTTPReply {
    /// Only this server's own script and style run or load, no other page may frame it, and nothing is cached.
    static let viewHeaders = [
        (
            "Content-Security-Policy",
            "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
                + "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
        ),
        ("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "same-origin"),
        ("Cross-Origin-Opener-Policy", "same-origin"), ("Cross-Origin-Resource-Policy", "same-origin"),
        ("Cache-Control", "no-store"),
    ]

    static func view(_ status: Int, _ headers: [(String, String)] = [], _ body: String = "") -> HTTPReply {
        HTTPReply(status: status, headers: viewHeaders + headers, body: Array(body.utf8))
    }

    /// An answer with one line of text for people.
    static func line(_ status: Int, _ text: String) -> HTTPReply {
        view(status, [("Content-Type", "text/plain; charset=utf-8")], text + "\n")
    }

    static func asset(_ text: String, _ type: String) -> HTTPReply { view(200, [("Content-Type", type)], text) }

    /// The answer to a posted form: the browser loads the page.
    static var seeOther: HTTPReply { view(303, [("Location", "/")]) }
}
