import CBOR

/// The reason for the refusal of an entry as text for people, in addition to the reason in the acknowledgement.
///
/// | bytes | field |
/// |---|---|
/// | 8 | number u64 of the entry |
/// | 4 + n | the text, at most 512 bytes |
public struct RefusalDetail: Equatable, Sendable {
    /// The number of the entry in its session, from 1.
    public var number: UInt64
    /// The text of what is wrong with the entry. It may have any characters: print it escaped.
    public var text: String

    /// The largest size of a text in bytes of UTF-8.
    public static let bytesMax = 512

    /// Creates a detail from its parts. A text over the limit is truncated between two characters.
    public init(number: UInt64, text: String) {
        self.number = number
        self.text = Self.cut(text)
    }

    /// The longest prefix of whole characters that fits.
    package static func cut(_ text: String) -> String {
        guard text.utf8.count > bytesMax else { return text }
        var end = text.startIndex
        var count = 0
        while end < text.endIndex {
            count += text[end].utf8.count
            if count > bytesMax { break }
            end = text.index(after: end)
        }
        return String(text[..<end])
    }

    /// The smallest size of one in a message.
    fileprivate static var bytesMin: Int { 12 }
}

extension ByteWriter {
    mutating func details(_ details: [RefusalDetail]) {
        u32(UInt32(details.count))
        for detail in details {
            u64(detail.number)
            string(detail.text)
        }
    }
}

extension ByteReader {
    mutating func details() throws(WireError) -> [RefusalDetail] {
        let count = try count(bytesEach: RefusalDetail.bytesMin)
        var details: [RefusalDetail] = []
        details.reserveCapacity(count)
        for _ in 0..<count {
            details.append(
                RefusalDetail(number: try u64(), text: try string(bytesMax: RefusalDetail.bytesMax)))
        }
        return details
    }
}
