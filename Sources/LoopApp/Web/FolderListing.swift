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
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        for byte in name {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"), UInt8(ascii: "/"):
                bytes.append(byte)
            default:
                bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
