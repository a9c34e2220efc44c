// Unsafe: libcurl lends the bytes of a header line until the callback returns.

/// The relevant headers of an answer, read line by line as libcurl provides them.
struct ResponseHeaders {
    private(set) var status = 0
    private(set) var isComplete = false
    private(set) var contentType: String?
    private(set) var contentLength: Int?
    /// How the body is encoded, in lower case and in order, without `identity`.
    private(set) var contentCodings: [String] = []
    /// The distinct targets of a redirect. Bytes, because servers also send other encodings than UTF-8.
    private(set) var locations: [[UInt8]] = []
    private(set) var setsCookie = false
    /// The last line, which the next one may continue (RFC 9112 section 5.2).
    private var line: [UInt8] = []

    /// Reads one line, including its end. A status line starts over, because interim answers (1xx) have headers of their own.
    mutating func receive(_ line: UnsafeRawBufferPointer) {
        let bytes = unsafe Array(line)
        if bytes.starts(with: "HTTP/".utf8) {
            self = ResponseHeaders()
            let words = bytes.split(separator: 0x20, maxSplits: 2)
            status = words.count > 1 ? Int(Self.text(words[1])) ?? 0 : 0
        } else if isComplete {
            // A trailer, which says nothing about the body before it.
        } else if bytes.first == 0x20 || bytes.first == 0x09 {
            self.line += bytes
        } else {
            readHeader()
            self.line = bytes
            isComplete = bytes.allSatisfy { $0 <= 0x20 }
        }
    }

    private mutating func readHeader() {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return }
        let value = Self.trimmed(line[(colon + 1)...])
        switch Self.text(line[..<colon]).lowercased() {
        case "location": if !locations.contains(Array(value)) { locations.append(Array(value)) }
        case "set-cookie": setsCookie = true
        case "content-type": contentType = Self.text(value)
        case "content-length": contentLength = Int(Self.text(value)).flatMap { $0 < 0 ? nil : $0 }
        case "content-encoding":
            // Several lines are one list.
            contentCodings += value.split(separator: UInt8(ascii: ",")).map { Self.text($0).lowercased() }
                .filter { !$0.isEmpty && $0 != "identity" }
        default: break
        }
    }

    private static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let end = bytes.lastIndex { $0 > 0x20 }.map { $0 + 1 } ?? bytes.startIndex
        return bytes[..<end].drop { $0 <= 0x20 }
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String {
        String(decoding: trimmed(bytes), as: UTF8.self)
    }
}
