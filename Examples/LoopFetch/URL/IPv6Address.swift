// Unsafe: the system uses what it gets only during the call.

internal import Glibc

/// An IPv6 address in its canonical form (RFC 5952).
struct IPv6Address: Equatable, CustomStringConvertible {
    private let groups: [UInt16]

    /// Parses any of the forms of RFC 4291 section 2.2, or returns nil if the text is no address. Zones (`%eth0`) are not
    /// allowed in URLs.
    init?(_ text: ArraySlice<UInt8>) {
        var address = in6_addr()
        guard !text.contains(0), unsafe inet_pton(AF_INET6, String(decoding: text, as: UTF8.self), &address) == 1 else {
            return nil
        }
        let words = unsafe address.__in6_u.__u6_addr16
        groups = [words.0, words.1, words.2, words.3, words.4, words.5, words.6, words.7].map(UInt16.init(bigEndian:))
    }

    /// The address with its longest run of zero groups as `::`, and with digits in lower case without leading zeros.
    var description: String {
        var best = 0..<0
        var index = 0
        while index < 8 {
            var end = index
            while end < 8, groups[end] == 0 { end += 1 }
            if end - index > max(best.count, 1) { best = index..<end }
            index = max(end, index + 1)
        }
        func hex(_ range: Range<Int>) -> String {
            groups[range].map { String($0, radix: 16) }.joined(separator: ":")
        }
        return best.isEmpty ? hex(0..<8) : hex(0..<best.lowerBound) + "::" + hex(best.upperBound..<8)
    }
}
