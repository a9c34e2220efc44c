internal import CHTTPD
internal import Glibc
internal import LoopLock
internal import LoopView

/// Answers a view's browsers: the page, its events, what people do on it, and the script and style that it needs.
final class ViewRequestHandler: RequestHandler, @unchecked Sendable {
    /// One request.
    private final class Exchange {
        let path: String
        let method: String
        var body: [UInt8] = []
        var isTooLarge = false

        init(path: String, method: String) {
            self.path = path
            self.method = method
        }
    }

    private let title: String
    private let origin: OriginCheck
    private let pages: PageCache
    private let bodyBytesMax: Int

    init(title: String, origin: OriginCheck, pages: PageCache, bodyBytesMax: Int) {
        self.title = title
        self.origin = origin
        self.pages = pages
        self.bodyBytesMax = bodyBytesMax
    }

    // MARK: Requests

    func answer(
        _ connection: WebConnection, _ url: UnsafePointer<CChar>, _ method: UnsafePointer<CChar>,
        _ piece: UnsafePointer<CChar>?, _ pieceBytes: UnsafeMutablePointer<Int>,
        _ slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>
    ) -> MHD_Result {
        guard let pointer = slot.pointee else {
            let exchange = Exchange(path: String(cString: url), method: String(cString: method))
            slot.pointee = Unmanaged.passRetained(exchange).toOpaque()
            return .YES
        }
        let exchange = Unmanaged<Exchange>.fromOpaque(pointer).takeUnretainedValue()
        if pieceBytes.pointee > 0, let piece {
            let bytes = UnsafeRawBufferPointer(start: piece, count: pieceBytes.pointee)
            if exchange.body.count + bytes.count > bodyBytesMax {
                exchange.isTooLarge = true
            } else {
                exchange.body += bytes
            }
            pieceBytes.pointee = 0
            return .YES
        }
        let headers = RequestHeaders(connection.pointer)
        guard origin.isOurs(host: headers["Host"]) else {
            return send(
                .text(421, "This server does not answer to that name. Give it the name as an allowed host."), connection
            )
        }
        switch (exchange.method, exchange.path) {
        case ("GET", "/"), ("HEAD", "/"): return send(page(headers), connection)
        case ("GET", "/events"): return stream(headers, connection)
        case ("POST", "/"): return send(act(exchange, headers), connection)
        case ("GET", "/loop.js"): return send(.asset(ViewScript.text, "text/javascript; charset=utf-8"), connection)
        case ("GET", "/loop.css"): return send(.asset(ViewStyle.text, "text/css; charset=utf-8"), connection)
        case ("GET", "/favicon.ico"): return send(ViewReply(status: 204), connection)
        case (_, "/"), (_, "/events"): return send(.text(405, "That cannot be done here."), connection)
        default: return send(.text(404, "There is nothing here."), connection)
        }
    }

    func finish(_ slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>) {
        guard let pointer = slot.pointee else { return }
        slot.pointee = nil
        Unmanaged<Exchange>.fromOpaque(pointer).release()
    }

    // MARK: Answers

    private func page(_ headers: RequestHeaders) -> ViewReply {
        guard let (page, session) = pages.pageOrNew(headers.cookie("loop"), newSession: SessionName.new) else {
            return .text(503, "There are too many visitors at the moment. Come again in a while.")
        }
        let (html, revision) = page.now()
        var reply = ViewReply(
            status: 200, type: "text/html; charset=utf-8",
            body: ViewPage.html(title: title, revision: revision, view: html))
        if let session { reply.headers.append(("Set-Cookie", "loop=\(session); Path=/; HttpOnly; SameSite=Strict")) }
        return reply
    }

    private func act(_ exchange: Exchange, _ headers: RequestHeaders) -> ViewReply {
        guard origin.isSameOrigin(headers) else {
            return .text(403, "This was sent by another site's page, and has done nothing.")
        }
        if exchange.isTooLarge { return .text(413, "That is too much text at once.") }
        let form = FormBody(exchange.body)
        let isScript = form["do"] != nil
        guard let page = pages.page(headers.cookie("loop")) else {
            // The script loads the page anew; without it, the browser is sent there.
            return isScript ? .text(410, "This page is no longer there.") : .seeOther
        }
        if isScript {
            guard let action = PagePost.action(form) else { return .text(400, "That is not an action.") }
            return page.perform(action) ? ViewReply(status: 204) : .text(409, "That is not there any more.")
        }
        for action in PagePost.edits(form) { _ = page.perform(action) }
        if let action = PagePost.press(form, in: page.tree()) { _ = page.perform(action) }
        return .seeOther
    }

    private func stream(_ headers: RequestHeaders, _ connection: WebConnection) -> MHD_Result {
        guard origin.isSameOrigin(headers, allowsUnknown: true) else {
            return send(.text(403, "This was asked for by another site's page."), connection)
        }
        guard let page = pages.page(headers.cookie("loop")) else {
            return send(ViewReply(status: 200, type: "text/event-stream", body: PageEvent.reload), connection)
        }
        let stream = EventStream(connection) { page.remove($0) }
        guard let response = stream.response() else { return .NO }
        page.add(stream, from: headers["Last-Event-ID"] ?? headers.query("revision") ?? "")
        let headers = [("Content-Type", "text/event-stream"), ("X-Accel-Buffering", "no")] + ViewReply.commonHeaders
        for (name, value) in headers { MHD_add_response_header(response, name, value) }
        defer { MHD_destroy_response(response) }
        return MHD_queue_response(connection.pointer, 200, response)
    }

    private func send(_ reply: ViewReply, _ connection: WebConnection) -> MHD_Result {
        let body = Array(reply.body.utf8)
        let response = body.withUnsafeBytes { body in
            MHD_create_response_from_buffer(
                body.count, UnsafeMutableRawPointer(mutating: body.baseAddress), .RESPMEM_MUST_COPY)
        }
        guard let response else { return .NO }
        for (name, value) in reply.headers { MHD_add_response_header(response, name, value) }
        defer { MHD_destroy_response(response) }
        return MHD_queue_response(connection.pointer, UInt32(clamping: reply.status), response)
    }
}
