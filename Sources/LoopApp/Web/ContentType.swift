/// The media type of a file, by the suffix of its name.
enum ContentType {
    /// The value of the `Content-Type` header for a file of this name.
    static func of(_ name: String) -> String {
        guard let dot = name.lastIndex(of: ".") else { return unknown }
        return bySuffix[name[name.index(after: dot)...].lowercased()] ?? unknown
    }

    private static let unknown = "application/octet-stream"

    // HTML has no charset here, because the page's own declaration decides.
    private static let bySuffix = [
        "html": "text/html", "htm": "text/html", "xhtml": "application/xhtml+xml",
        "md": "text/markdown; charset=utf-8", "markdown": "text/markdown; charset=utf-8",
        "txt": "text/plain; charset=utf-8", "css": "text/css", "csv": "text/csv",
        "js": "text/javascript", "mjs": "text/javascript", "json": "application/json", "map": "application/json",
        "xml": "application/xml", "atom": "application/atom+xml", "rss": "application/rss+xml",
        "png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "gif": "image/gif", "svg": "image/svg+xml",
        "ico": "image/vnd.microsoft.icon", "webp": "image/webp", "avif": "image/avif", "bmp": "image/bmp",
        "woff": "font/woff", "woff2": "font/woff2", "ttf": "font/ttf", "otf": "font/otf",
        "eot": "application/vnd.ms-fontobject",
        "pdf": "application/pdf", "wasm": "application/wasm", "zip": "application/zip", "gz": "application/gzip",
        "mp3": "audio/mpeg", "ogg": "audio/ogg", "wav": "audio/wav", "mp4": "video/mp4", "webm": "video/webm",
        "webmanifest": "application/manifest+json",
    ]
}
