/// What matters of the header of an answer, line by line as libcurl hands it over.
struct ResponseHeaders {
    private(set) var status = 0
    private(set) var isComplete = false
    private(set) var contentType: String?
    private(set) var contentLength: Int?
    private(set) var location: String?

    /// Takes one line, its end included. A status line starts again: interim answers (1xx) have headers of their own.
    mutating func receive(_ line: UnsafeRawBufferPointer) {
        var end = line.count
        while end > 0, line[end - 1] <= 0x20 { end -= 1 }
        let line = UnsafeRawBufferPointer(rebasing: line[..<end])
        if line.isEmpty {
            isComplete = true
        } else if line.starts(with: "HTTP/".utf8) {
            self = ResponseHeaders()
            let words = line.split(separator: 0x20, maxSplits: 2)
            status = words.count > 1 ? Int(String(decoding: words[1], as: UTF8.self)) ?? 0 : 0
        } else if let colon = line.firstIndex(of: UInt8(ascii: ":")) {
            let name = line[..<colon]
            let value = line[(colon + 1)...].drop { $0 <= 0x20 }
            switch name.count {
            case 8 where Self.isName(name, "location"): location = String(decoding: value, as: UTF8.self)
            case 12 where Self.isName(name, "content-type"): contentType = String(decoding: value, as: UTF8.self)
            case 14 where Self.isName(name, "content-length"):
                contentLength = Int(String(decoding: value, as: UTF8.self)).flatMap { $0 < 0 ? nil : $0 }
            default: break
            }
        }
    }

    private static func isName(_ bytes: Slice<UnsafeRawBufferPointer>, _ name: StaticString) -> Bool {
        var index = 0
        for byte in bytes {
            let lower = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
            guard lower == name.utf8Start[index] else { return false }
            index += 1
        }
        return true
    }
}
