internal import LoopCore

/// The page of a folder without `index.html`: one link for each name in it.
enum FolderListing {
    /// The page as UTF-8.
    ///
    /// - Parameter names: names of files, and names of folders with their closing slash, in the order of the page. They need not be UTF-8.
    static func html(title: String, names: [[UInt8]]) -> [UInt8] {
        var page = "<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\"><title>\(escape(title))</title></head>\n<body>"
        page += "<h1>\(escape(title))</h1>\n<ul>\n"
        for name in names {
            page += "<li><a href=\"./\(encode(name))\">\(escape(String(decoding: name, as: UTF8.self)))</a></li>\n"
        }
        page += "</ul></body></html>\n"
        return Array(page.utf8)
    }

    private static func escape(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }

    /// Percent-encodes what is not unreserved in RFC 3986, except for the closing slash of a folder.
    private static func encode(_ name: [UInt8]) -> String {
        PercentEncoding.encode(name) { PercentEncoding.isUnreserved($0) || $0 == UInt8(ascii: "/") }
    }
}
