internal import CHTTPD
internal import Glibc
internal import LoopLock

/// What the callbacks of libmicrohttpd share: it answers requests, and counts them.
final class CountingHandler: RequestHandler, @unchecked Sendable {
    struct Counts {
        var total = 0
        var underWay = 0
        var underWayMax = 0
        var byPath: [String: Int] = [:]
    }

    /// One request, from its headers to the end of its answer.
    private final class Exchange {
        let path: String
        let method: String
        let override: SiteServer.Override?
        var latency: Duration

        init(path: String, method: String, override: SiteServer.Override?, latency: Duration) {
            self.path = path
            self.method = method
            self.override = override
            self.latency = latency
        }
    }

    let counts = Locked(Counts())
    private let site: SiteFolder
    private let options: SiteServer.Options

    init(site: SiteFolder, options: SiteServer.Options) {
        self.site = site
        self.options = options
    }

    func answer(
        _ connection: WebConnection, _ url: UnsafePointer<CChar>, _ method: UnsafePointer<CChar>,
        _ piece: UnsafePointer<CChar>?, _ bodyBytes: UnsafeMutablePointer<Int>,
        _ slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>
    ) -> MHD_Result {
        guard let pointer = slot.pointee else {
            let exchange = begin(path: String(cString: url), method: String(cString: method))
            slot.pointee = Unmanaged.passRetained(exchange).toOpaque()
            return .YES
        }
        guard bodyBytes.pointee == 0 else {
            bodyBytes.pointee = 0
            return .YES
        }
        let exchange = Unmanaged<Exchange>.fromOpaque(pointer).takeUnretainedValue()
        if exchange.latency > .zero {
            let latency = exchange.latency
            exchange.latency = .zero
            connection.rest(for: latency)
            return .YES
        }
        switch exchange.override?.answer {
        case .drop: return .NO
        case .reply(let reply): return queue(reply, on: connection)
        case .folder, nil: return answerFromFolder(exchange, connection)
        }
    }

    func finish(_ slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>) {
        guard let pointer = slot.pointee else { return }
        slot.pointee = nil
        Unmanaged<Exchange>.fromOpaque(pointer).release()
        counts.withLock { $0.underWay -= 1 }
    }

    private func begin(path: String, method: String) -> Exchange {
        let countedMax = options.countedPathsMax
        counts.withLock { counts in
            counts.total += 1
            counts.underWay += 1
            counts.underWayMax = max(counts.underWayMax, counts.underWay)
            if counts.byPath.count < countedMax || counts.byPath[path] != nil { counts.byPath[path, default: 0] += 1 }
        }
        let override = options.handler?(path, method)
        let latency = override?.latency ?? options.latency
        return Exchange(path: path, method: method, override: override, latency: latency)
    }

    private func answerFromFolder(_ exchange: Exchange, _ connection: WebConnection) -> MHD_Result {
        guard exchange.method == "GET" || exchange.method == "HEAD" else {
            var reply = Reply.page(status: 405)
            reply.headers.append(("Allow", "GET, HEAD"))
            return queue(reply, on: connection)
        }
        switch site.entry(exchange.path) {
        case .file(let descriptor, let bytes, let modified, let contentType):
            // The response owns the descriptor, and sends the file without copying it through this process.
            guard let response = MHD_create_response_from_fd64(bytes, descriptor) else {
                Glibc.close(descriptor)
                return .NO
            }
            MHD_add_response_header(response, "Content-Type", contentType)
            MHD_add_response_header(response, "Last-Modified", httpDate(modified))
            return send(response, status: 200, on: connection)
        case .redirect(let location):
            var reply = Reply.page(status: 301)
            reply.headers.append(("Location", location))
            return queue(reply, on: connection)
        case .listing(let page):
            let headers = [("Content-Type", "text/html; charset=utf-8")]
            return queue(Reply(status: 200, headers: headers, body: page), on: connection)
        case .nothing: return queue(.page(status: 404), on: connection)
        case .malformed: return queue(.page(status: 400), on: connection)
        }
    }

    private func queue(_ reply: Reply, on connection: WebConnection) -> MHD_Result {
        let response = reply.body.withUnsafeBytes { body in
            MHD_create_response_from_buffer(
                body.count, UnsafeMutableRawPointer(mutating: body.baseAddress), .RESPMEM_MUST_COPY)
        }
        guard let response else { return .NO }
        for (name, value) in reply.headers { MHD_add_response_header(response, name, value) }
        return send(response, status: reply.status, on: connection)
    }

    private func send(_ response: OpaquePointer, status: Int, on connection: WebConnection) -> MHD_Result {
        defer { MHD_destroy_response(response) }
        return MHD_queue_response(connection.pointer, UInt32(clamping: status), response)
    }

    /// A time as `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110 section 5.6.7), whatever the locale.
    private func httpDate(_ seconds: Int) -> String {
        var time = seconds
        var parts = tm()
        gmtime_r(&time, &parts)
        let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(days[Int(parts.tm_wday)]), \(two(parts.tm_mday)) \(months[Int(parts.tm_mon)]) "
            + "\(parts.tm_year + 1900) \(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec)) GMT"
    }
}
