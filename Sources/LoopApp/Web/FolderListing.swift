internal import LoopCore

/// The page of a folder without `index.html`: one link for each name in it.
enum FolderListing {
    /// The page as UTF-8.
    ///
    /// - Parameter names: names of files, and names of folders with their closing slash, in the order of the page. They need not be UTF-8.
    static func html(title: String, names: [[UInt8]]) -> [UInt8] {
        let title = HTML.escaped(title)
        var page = "<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\"><title>\(title)</title></head>\n<body>"
        page += "<h1>\(title)</h1>\n<ul>\n"
        for name in names {
            let text = HTML.escaped(String(decoding: name, as: UTF8.self))
            page += "<li><a href=\"./\(encode(name))\">\(text)</a></li>\n"
        }
        page += "</ul></body></html>\n"
        return Array(page.utf8)
    }

    /// Percent-encodes what is not unreserved in RFC 3986, except for the closing slash of a folder.
    private static func encode(_ name: [UInt8]) -> String {
        PercentEncoding.encode(name) { PercentEncoding.isUnreserved($0) || $0 == UInt8(ascii: "/") }
    }
}
