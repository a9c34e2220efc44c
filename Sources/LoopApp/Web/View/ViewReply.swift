/// An answer of a view's server.
struct ViewReply: Sendable {
    var status: Int
    var headers: [(String, String)]
    var body: String

    init(status: Int, type: String = "text/plain; charset=utf-8", body: String = "") {
        self.status = status
        self.body = body
        headers = Self.commonHeaders
        if !body.isEmpty { headers.append(("Content-Type", type)) }
    }

    /// An answer with one line of text for people.
    static func text(_ status: Int, _ text: String) -> ViewReply { ViewReply(status: status, body: text + "\n") }

    static func asset(_ text: String, _ type: String) -> ViewReply { ViewReply(status: 200, type: type, body: text) }

    /// The answer to a posted form: the browser loads the page.
    static var seeOther: ViewReply {
        var reply = ViewReply(status: 303)
        reply.headers.append(("Location", "/"))
        return reply
    }

    /// Only this server's own script and style run or load, no other page may frame it, and nothing is cached.
    static let commonHeaders = [
        (
            "Content-Security-Policy",
            "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
                + "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
        ),
        ("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "same-origin"),
        ("Cross-Origin-Opener-Policy", "same-origin"), ("Cross-Origin-Resource-Policy", "same-origin"),
        ("Cache-Control", "no-store"),
    ]
}
