// Unsafe: libcurl lends the bytes of a header line until the callback returns.

/// What matters of the header of an answer, line by line as libcurl hands it over.
struct ResponseHeaders {
    private(set) var status = 0
    private(set) var isComplete = false
    private(set) var contentType: String?
    private(set) var contentLength: Int?
    private(set) var contentEncoding: String?
    /// The bytes as the server sent them, because they may not be UTF-8.
    private(set) var location: [UInt8]?
    private(set) var setsCookie = false

    /// Takes one line, its end included. A status line starts again: interim answers (1xx) have headers of their own.
    mutating func receive(_ line: UnsafeRawBufferPointer) {
        var end = line.count
        while end > 0, unsafe line[end - 1] <= 0x20 { end -= 1 }
        let line = unsafe UnsafeRawBufferPointer(rebasing: line[..<end])
        if unsafe line.isEmpty {
            isComplete = true
        } else if unsafe line.starts(with: "HTTP/".utf8) {
            self = ResponseHeaders()
            let words = unsafe line.split(separator: 0x20, maxSplits: 2)
            status = unsafe words.count > 1 ? Int(String(decoding: words[1], as: UTF8.self)) ?? 0 : 0
        } else if let colon = unsafe line.firstIndex(of: UInt8(ascii: ":")) {
            let name = unsafe line[..<colon]
            let value = unsafe line[(colon + 1)...].drop { $0 <= 0x20 }
            switch unsafe name.count {
            case 8 where unsafe Self.isName(name, "location"): location = unsafe Array(value)
            case 10 where unsafe Self.isName(name, "set-cookie"): setsCookie = true
            case 12 where unsafe Self.isName(name, "content-type"):
                contentType = unsafe String(decoding: value, as: UTF8.self)
            case 14 where unsafe Self.isName(name, "content-length"):
                contentLength = unsafe Int(String(decoding: value, as: UTF8.self)).flatMap { $0 < 0 ? nil : $0 }
            case 16 where unsafe Self.isName(name, "content-encoding"):
                contentEncoding = unsafe String(decoding: value, as: UTF8.self).lowercased()
            default: break
            }
        }
    }

    private static func isName(_ bytes: Slice<UnsafeRawBufferPointer>, _ name: StaticString) -> Bool {
        var index = 0
        for place in unsafe bytes.indices {
            let byte = unsafe bytes[place]
            let lower = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
            guard unsafe lower == name.utf8Start[index] else { return false }
            index += 1
        }
        return true
    }
}
