/// A text as one segment of a URL's path: characters that are not unreserved are percent-encoded (RFC 3986 section 2.3).
struct PathSegment: CustomStringConvertible {
    let description: String

    init(_ text: String) {
        let unreserved = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~".utf8)
        description = text.utf8.reduce(into: "") { text, byte in
            if unreserved.contains(byte) {
                text.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                text += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }
    }
}
