// Unsafe: the handle belongs to libcurl and is freed once. libcurl copies the strings that it gets, and calls back only
// while the transfer is in it.

internal import CCurl

/// One of libcurl's easy handles, used for one transfer after the other.
@safe final class EasyHandle {
    let handle: UnsafeMutableRawPointer
    private let errorText: UnsafeMutablePointer<CChar>
    private let configuration: FetchConfiguration
    private var headers: UnsafeMutablePointer<curl_slist>?
    private var transfer: Transfer?

    init?(_ configuration: FetchConfiguration) {
        guard let handle = unsafe curl_easy_init() else { return nil }
        unsafe self.handle = handle
        self.configuration = configuration
        unsafe errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        unsafe errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    }

    deinit {
        unsafe curl_easy_cleanup(handle)
        unsafe curl_slist_free_all(headers)
        unsafe errorText.deallocate()
    }

    /// The owner of one of libcurl's handles.
    static func of(_ handle: UnsafeMutableRawPointer?) -> EasyHandle? {
        var context: UnsafeMutableRawPointer?
        guard unsafe loop_curl_get_pointer(handle, CURLINFO_PRIVATE, &context) == CURLE_OK, let context = unsafe context
        else { return nil }
        return unsafe Unmanaged<EasyHandle>.fromOpaque(context).takeUnretainedValue()
    }

    /// Sets all options for the next hop of a transfer.
    func prepare(_ transfer: Transfer) {
        self.transfer = transfer
        let request = transfer.request
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe errorText[0] = 0
        unsafe set(CURLOPT_PRIVATE, context)
        unsafe set(CURLOPT_ERRORBUFFER, UnsafeMutableRawPointer(errorText))
        set(CURLOPT_URL, transfer.url.string)
        set(CURLOPT_PATH_AS_IS, 1)
        set(CURLOPT_PROTOCOLS_STR, "http,https")
        set(CURLOPT_NOSIGNAL, 1)
        set(CURLOPT_NOBODY, request.method == .head ? 1 : 0)
        set(CURLOPT_TIMEOUT_MS, Self.milliseconds(request.timeout))
        set(CURLOPT_CONNECTTIMEOUT_MS, Self.milliseconds(request.connectTimeout))
        set(CURLOPT_USERAGENT, configuration.userAgent)
        if transfer.url.isLoopback { set(CURLOPT_PROXY, "") }
        // The headers of a proxy that connects are not those of the answer.
        set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        if request.accept != "*/*" { unsafe headers = curl_slist_append(headers, "Accept: \(request.accept)") }
        // `Transfer` decompresses, because libcurl would accept a truncated compressed body as complete.
        unsafe headers = curl_slist_append(headers, "Accept-Encoding: gzip")
        _ = unsafe loop_curl_set_list(handle, CURLOPT_HTTPHEADER, headers)
        // A handle keeps the cookies of its last request when it is reset.
        if transfer.redirects.isEmpty || !request.keepsCookies { set(CURLOPT_COOKIELIST, "ALL") }
        if request.keepsCookies { set(CURLOPT_COOKIEFILE, "") }
        unsafe set(CURLOPT_HEADERDATA, context)
        unsafe set(CURLOPT_WRITEDATA, context)
        _ = unsafe loop_curl_set_receiver(handle, CURLOPT_HEADERFUNCTION) { bytes, size, count, context in
            unsafe EasyHandle.receive(bytes, size * count, context) { unsafe $0.receiveHeader($1) }
        }
        _ = unsafe loop_curl_set_receiver(handle, CURLOPT_WRITEFUNCTION) { bytes, size, count, context in
            unsafe EasyHandle.receive(bytes, size * count, context) { unsafe $0.receiveBody($1) }
        }
    }

    /// Makes the handle ready for another transfer. Its connections stay open.
    func clear() -> Transfer {
        guard let transfer else { preconditionFailure("a handle without a transfer was removed") }
        self.transfer = nil
        unsafe curl_easy_reset(handle)
        unsafe curl_slist_free_all(headers)
        unsafe headers = nil
        return transfer
    }

    /// The error of a libcurl result.
    func failure(_ result: CURLcode) -> FetchError? {
        let detail = unsafe errorText[0] == 0 ? String(cString: curl_easy_strerror(result)) : String(cString: errorText)
        // An aborted handshake may succeed the next time; a bad certificate will not.
        let isTransient = result == CURLE_SSL_CONNECT_ERROR ? true : nil
        return transfer?.error(FetchError.Code(result), detail, isTransient: isTransient)
    }

    /// The value of the last answer's `Retry-After`.
    var retryAfterSeconds: Int? {
        var seconds: curl_off_t = 0
        guard unsafe loop_curl_get_offset(handle, CURLINFO_RETRY_AFTER, &seconds) == CURLE_OK, seconds > 0 else {
            return nil
        }
        return Int(seconds)
    }

    /// Passes bytes to the transfer. Returning fewer bytes than were offered makes libcurl end the transfer.
    private static func receive(
        _ bytes: UnsafeMutablePointer<CChar>?, _ count: Int, _ context: UnsafeMutableRawPointer?,
        _ body: (Transfer, UnsafeRawBufferPointer) -> Bool
    ) -> Int {
        guard let context = unsafe context,
            let transfer = unsafe Unmanaged<EasyHandle>.fromOpaque(context).takeUnretainedValue().transfer
        else { return 0 }
        return unsafe body(transfer, UnsafeRawBufferPointer(start: bytes, count: count)) ? count : 0
    }

    private func set(_ option: CURLoption, _ value: Int) {
        unsafe check(loop_curl_set_long(handle, option, value), option)
    }

    private func set(_ option: CURLoption, _ value: String) {
        unsafe check(loop_curl_set_string(handle, option, value), option)
    }

    private func set(_ option: CURLoption, _ value: UnsafeMutableRawPointer) {
        unsafe check(loop_curl_set_pointer(handle, option, value), option)
    }

    private func check(_ result: CURLcode, _ option: CURLoption) {
        precondition(result == CURLE_OK, "libcurl refused option \(option.rawValue): \(result.rawValue)")
    }

    /// Whole milliseconds, at least one, because zero would mean no limit.
    private static func milliseconds(_ duration: Duration) -> Int {
        let parts = duration.components
        let whole = Int(clamping: max(0, min(parts.seconds, 1_000_000))) * 1000
        return max(1, whole + Int(parts.attoseconds / 1_000_000_000_000_000))
    }
}
