// Unsafe: memory is looked at only while its owner lends it.

/// What keeps hostile markup from taking hours: libxml2 compares every attribute of a tag with all before it, and looks
/// for what an end tag closes among all elements that are open.
enum MarkupLimits {
    /// Comparisons of names for a page: about two seconds. A page of 10 MB that is nested 100 deep needs half of them.
    static let workMax = 500_000_000

    /// Attributes of one tag; pages have dozens.
    static let attributesMax = 2000

    /// Whether a page whose elements are nested so deeply is far from taking unreasonably long.
    static func isShallow(_ depth: Int, bytesCount: Int) -> Bool {
        let (work, isTooMuch) = depth.multipliedReportingOverflow(by: bytesCount / 4)
        return !isTooMuch && work < workMax / 2
    }

    /// The end of the page, or the beginning of the first tag with too many attributes.
    static func readableEnd(of page: ArraySlice<UInt8>) -> Int {
        unsafe page.withUnsafeBufferPointer { bytes in
            var index = 0
            while index < bytes.count {
                guard unsafe bytes[index] == UInt8(ascii: "<"), index + 1 < bytes.count,
                    unsafe isLetter(bytes[index + 1])
                else {
                    index += 1
                    continue
                }
                guard let end = unsafe endOfTag(bytes, from: index) else { return page.startIndex + index }
                index = end
            }
            return page.endIndex
        }
    }

    /// Behind the tag that begins at `start`; nil where it has too many attributes.
    private static func endOfTag(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> Int? {
        var index = start + 1
        var attributes = 0
        var isSpace = false
        while index < bytes.count {
            let byte = unsafe bytes[index]
            index += 1
            if byte == UInt8(ascii: ">") { return index }
            if byte <= 0x20 || byte == UInt8(ascii: "/") {
                isSpace = true
                continue
            }
            if isSpace {
                isSpace = false
                attributes += 1
                if attributes > attributesMax { return nil }
            }
            guard byte == UInt8(ascii: "=") else { continue }
            while index < bytes.count, unsafe bytes[index] <= 0x20 { index += 1 }
            guard index < bytes.count, unsafe bytes[index] == UInt8(ascii: "\"") || bytes[index] == UInt8(ascii: "'")
            else {
                continue
            }
            let quote = unsafe bytes[index]
            index += 1
            while index < bytes.count, unsafe bytes[index] != quote { index += 1 }
            index += 1
            // Attributes may follow a quote without a space.
            isSpace = true
        }
        return bytes.count
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }
}
