package import LoopNode

extension HTTPReply {
    /// Headers of every answer of a site. A browser must not guess another content type, and tells no other site the address of the
    /// page.
    package static let siteHeaders = [("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "same-origin")]

    /// A page that the server makes. It loads and runs nothing, and no page may frame it.
    static func page(_ html: [UInt8], status: Int = 200, headers: [(String, String)] = []) -> HTTPReply {
        let policy = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        let own = [
            ("Content-Type", "text/html; charset=utf-8"), ("Cache-Control", "no-cache"),
            ("Content-Security-Policy", policy),
        ]
        return HTTPReply(status: status, headers: own + headers + siteHeaders, body: html)
    }

    /// A small page that names the status.
    package static func page(status: Int, headers: [(String, String)] = []) -> HTTPReply {
        let title = "\(status) \(HTTPResponse.phrase(of: status) ?? "Status")"
        let html = "<!DOCTYPE html><html><head><title>\(title)</title></head><body><h1>\(title)</h1></body></html>\n"
        return page(Array(html.utf8), status: status, headers: headers)
    }
}
