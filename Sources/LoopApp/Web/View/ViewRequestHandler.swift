internal import LoopNode

/// Answers a view's browsers: with the page, its events, the results of actions, its script and its style.
final class ViewRequestHandler: HTTPHandler {
    /// One request.
    private final class Exchange: HTTPExchange {
        private let handler: ViewRequestHandler
        let path: String
        let method: String
        private(set) var body: [UInt8] = []
        private(set) var isTooLarge = false

        init(_ handler: ViewRequestHandler, path: String, method: String) {
            self.handler = handler
            self.path = path
            self.method = method
        }

        func receive(_ piece: [UInt8]) {
            if body.count + piece.count > handler.bodyBytesMax {
                isTooLarge = true
            } else {
                body += piece
            }
        }

        func answer(_ request: borrowing HTTPRequest) -> HTTPAnswer { handler.answer(self, request) }

        func end() {}
    }

    private let title: String
    private let origin: OriginCheck
    private let pages: PageCache
    private let bodyBytesMax: Int
    private let isWide: Bool

    init(title: String, origin: OriginCheck, pages: PageCache, bodyBytesMax: Int, isWide: Bool) {
        self.title = title
        self.isWide = isWide
        self.origin = origin
        self.pages = pages
        self.bodyBytesMax = bodyBytesMax
    }

    // MARK: Requests

    func begin(path: String, method: String) -> any HTTPExchange {
        Exchange(self, path: path, method: method)
    }

    private func answer(_ exchange: Exchange, _ request: borrowing HTTPRequest) -> HTTPAnswer {
        guard origin.isOurs(host: request.header("Host")) else {
            let text = "This server does not answer to that name. Give it the name as an allowed host."
            return .reply(.line(421, text))
        }
        switch (exchange.method, exchange.path) {
        case ("GET", "/"), ("HEAD", "/"): return .reply(page(request))
        case ("GET", "/events"): return stream(request)
        case ("POST", "/"): return .reply(act(exchange, request))
        case ("GET", "/loop.js"): return .reply(.asset(ViewScript.text, "text/javascript; charset=utf-8"))
        case ("GET", "/loop.css"): return .reply(.asset(ViewStyle.text, "text/css; charset=utf-8"))
        case ("GET", "/favicon.ico"): return .reply(.view(204))
        case (_, "/"), (_, "/events"): return .reply(.line(405, "That cannot be done here."))
        default: return .reply(.line(404, "There is nothing here."))
        }
    }

    // MARK: Answers

    private func page(_ request: borrowing HTTPRequest) -> HTTPReply {
        guard let (page, session) = pages.pageOrNew(request.cookie("loop"), newSession: SessionName.new)
        else {
            return .line(503, "There are too many visitors at the moment. Come again in a while.")
        }
        let (html, revision) = page.now()
        var reply = HTTPReply.asset(
            ViewPage.html(title: title, revision: revision, view: html, isWide: isWide), "text/html; charset=utf-8")
        if let session {
            reply.headers.append(("Set-Cookie", "loop=\(session); Path=/; HttpOnly; SameSite=Strict"))
        }
        return reply
    }

    private func act(_ exchange: Exchange, _ request: borrowing HTTPRequest) -> HTTPReply {
        guard origin.isSameOrigin(request) else {
            return .line(403, "This was sent by another site's page, and has done nothing.")
        }
        if exchange.isTooLarge { return .line(413, "That is too much text at once.") }
        let form = FormBody(exchange.body)
        let isScript = form["do"] != nil
        guard let page = pages.page(request.cookie("loop")) else {
            // The script reloads the page. Without the script, the browser is redirected to it.
            return isScript ? .line(410, "This page is no longer there.") : .seeOther
        }
        if isScript {
            guard let action = PagePost.action(form) else { return .line(400, "That is not an action.") }
            return page.perform(action)
                ? .view(204) : .line(409, "That is not there any more.")
        }
        for action in PagePost.edits(form) { _ = page.perform(action) }
        if let action = PagePost.press(form, in: page.tree()) { _ = page.perform(action) }
        return .seeOther
    }

    private func stream(_ request: borrowing HTTPRequest) -> HTTPAnswer {
        guard origin.isSameOrigin(request, allowsUnknown: true) else {
            return .reply(.line(403, "This was asked for by another site's page."))
        }
        guard let page = pages.page(request.cookie("loop")) else {
            return .reply(.asset(PageEvent.reload, "text/event-stream"))
        }
        let stream = EventStream(request.connection) { page.remove($0) }
        page.add(stream, from: request.header("Last-Event-ID") ?? request.query("revision") ?? "")
        let headers = [("Content-Type", "text/event-stream"), ("X-Accel-Buffering", "no")]
        return .stream(stream, headers: headers + HTTPReply.viewHeaders)
    }
}
