/// An IPv6 address, written in its one canonical form (RFC 5952).
struct IPv6Address: Equatable, CustomStringConvertible {
    private var groups: [UInt16] = []

    /// Parses any of the forms of RFC 4291 section 2.2; nil where it is none. Zones (`%eth0`) are not for URLs.
    init?(_ text: ArraySlice<UInt8>) {
        var gap: Int?
        var index = text.startIndex
        if text.starts(with: "::".utf8) {
            gap = 0
            index += 2
        } else if text.first == UInt8(ascii: ":") {
            return nil
        }
        while index < text.endIndex {
            guard groups.count < 8 else { return nil }
            let end = text[index...].firstIndex(of: UInt8(ascii: ":")) ?? text.endIndex
            let piece = text[index..<end]
            if end == text.endIndex, piece.contains(UInt8(ascii: ".")) {
                guard let (high, low) = Self.ipv4(piece) else { return nil }
                groups += [high, low]
                break
            }
            guard (1...4).contains(piece.count), !piece.contains(UInt8(ascii: "+")), !piece.contains(UInt8(ascii: "-")),
                let group = UInt16(String(decoding: piece, as: UTF8.self), radix: 16)
            else { return nil }
            groups.append(group)
            index = end
            guard index < text.endIndex else { break }
            index += 1
            guard index < text.endIndex else { return nil }
            if text[index] == UInt8(ascii: ":") {
                guard gap == nil else { return nil }
                gap = groups.count
                index += 1
            }
        }
        if let gap {
            guard groups.count < 8 else { return nil }
            groups.insert(contentsOf: repeatElement(0, count: 8 - groups.count), at: gap)
        }
        guard groups.count == 8 else { return nil }
    }

    /// The longest run of two or more zero groups as `::`, digits in lower case without leading zeros.
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

    private static func ipv4(_ text: ArraySlice<UInt8>) -> (UInt16, UInt16)? {
        let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        var bytes: [UInt16] = []
        for part in parts {
            guard let byte = UInt8(String(decoding: part, as: UTF8.self)), part.first != UInt8(ascii: "+") else {
                return nil
            }
            bytes.append(UInt16(byte))
        }
        return (bytes[0] << 8 | bytes[1], bytes[2] << 8 | bytes[3])
    }
}
