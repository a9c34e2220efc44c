import CCurl

/// A URL as libcurl reads it. The pages are fetched by libcurl, so its reading decides which server is asked for what.
struct LibraryURL {
    var scheme: String?
    var host: String?
    var port: String?
    var path: String?
    var query: String?

    /// Reads a URL as a transfer does; nil where libcurl refuses it.
    init?(_ text: String) {
        guard let url = Self.parsed(text, CURLU_PATH_AS_IS) else { return nil }
        defer { curl_url_cleanup(url) }
        scheme = Self.part(CURLUPART_SCHEME, of: url)
        host = Self.part(CURLUPART_HOST, of: url)?.lowercased()
        port = Self.part(CURLUPART_PORT, of: url, CURLU_DEFAULT_PORT)
        path = Self.part(CURLUPART_PATH, of: url)
        query = Self.part(CURLUPART_QUERY, of: url)
    }

    /// What a reference on a page means to libcurl, without its fragment; nil where libcurl refuses it.
    static func resolve(_ reference: String, on page: String) -> String? {
        guard let url = parsed(page) else { return nil }
        defer { curl_url_cleanup(url) }
        guard curl_url_set(url, CURLUPART_URL, reference, 0) == CURLUE_OK,
            curl_url_set(url, CURLUPART_FRAGMENT, nil, 0) == CURLUE_OK
        else { return nil }
        return part(CURLUPART_URL, of: url, CURLU_NO_DEFAULT_PORT)
    }

    private static func parsed(_ text: String, _ flags: Int32 = 0) -> OpaquePointer? {
        let url = curl_url()
        if curl_url_set(url, CURLUPART_URL, text, UInt32(flags)) == CURLUE_OK { return url }
        curl_url_cleanup(url)
        return nil
    }

    private static func part(_ part: CURLUPart, of url: OpaquePointer, _ flags: Int32 = 0) -> String? {
        var text: UnsafeMutablePointer<CChar>?
        guard curl_url_get(url, part, &text, UInt32(flags)) == CURLUE_OK, let text else { return nil }
        defer { curl_free(text) }
        return String(cString: text)
    }
}
