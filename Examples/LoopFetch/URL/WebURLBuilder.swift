internal import LoopCore

/// Parses one reference and builds its URL: the algorithm of `WebURL`.
///
/// It is RFC 3986 section 5.2.2 over bytes, in one pass with one buffer, because a page has hundreds of links.
struct WebURLBuilder {
    private let text: String
    private let reference: [UInt8]
    private var output: [UInt8] = []
    private var layout = WebURL.Layout(isSecure: false, port: 80)
    private let charset: Charset

    /// - Parameter charset: the encoding in which the query is sent.
    init(_ bytes: some Collection<UInt8>, charset: Charset = .utf8) {
        text = String(decoding: bytes, as: UTF8.self)
        reference = Self.trim(bytes)
        self.charset = charset
    }

    /// - Parameter base: the base of a relative reference, or nil if the reference must be absolute.
    mutating func resolve(against base: WebURL?) throws(WebURLError) -> WebURL {
        var fragment: String?
        var end = reference.count
        if let hash = reference.firstIndex(of: UInt8(ascii: "#")) {
            fragment = String(decoding: reference[(hash + 1)...], as: UTF8.self)
            end = hash
        }
        output.reserveCapacity(end + (base?.string.utf8.count ?? 0) + 16)
        var rest = 0
        if let colon = schemeEnd(before: end) {
            let scheme = String(decoding: reference[..<colon], as: UTF8.self).lowercased()
            guard scheme == "http" || scheme == "https" else { throw .otherScheme(scheme) }
            rest = colon + 1
            // "http:x" on a page of the same scheme is relative (RFC 3986 section 5.2.2, and every browser).
            if base?.scheme != scheme || startsWithTwoSlashes(rest, end) {
                while rest < end, isSlash(reference[rest]) { rest += 1 }
                try appendAuthority(isSecure: scheme == "https", from: &rest, to: end)
                appendPathAndQuery(rest, end, directory: nil)
                return WebURL(bytes: output, fragment: fragment, layout: layout)
            }
        }
        guard let base else { throw .notAbsolute(text) }
        if startsWithTwoSlashes(rest, end) {
            while rest < end, isSlash(reference[rest]) { rest += 1 }
            try appendAuthority(isSecure: base.layout.isSecure, from: &rest, to: end)
            appendPathAndQuery(rest, end, directory: nil)
        } else {
            appendRelative(rest, end, to: base)
        }
        return WebURL(bytes: output, fragment: fragment, layout: layout)
    }

    // MARK: Parts

    private mutating func appendRelative(_ start: Int, _ end: Int, to base: WebURL) {
        layout = base.layout
        let baseBytes = Array(base.string.utf8)
        if start == end {
            output += baseBytes
        } else if reference[start] == UInt8(ascii: "?") {
            output += baseBytes[..<layout.pathEnd]
            appendQuery(start, end)
        } else {
            output += baseBytes[..<layout.pathStart]
            let isAbsolute = isSlash(reference[start])
            appendPathAndQuery(start, end, directory: isAbsolute ? nil : baseBytes[layout.pathStart..<layout.pathEnd])
        }
    }

    private mutating func appendAuthority(isSecure: Bool, from rest: inout Int, to end: Int) throws(WebURLError) {
        layout = WebURL.Layout(isSecure: isSecure, port: isSecure ? 443 : 80)
        output += isSecure ? "https://".utf8 : "http://".utf8
        var stop = rest
        while stop < end, !isSlash(reference[stop]), reference[stop] != UInt8(ascii: "?") { stop += 1 }
        var host = rest
        rest = stop
        if let at = reference[host..<stop].lastIndex(of: UInt8(ascii: "@")) {
            if host < at, reference[host..<at] != [UInt8(ascii: ":")] {
                appendEncoded(reference[host..<at], .userInfo)
                output.append(UInt8(ascii: "@"))
            }
            host = at + 1
        }
        var hostEnd = stop
        if let colon = reference[host..<stop].lastIndex(of: UInt8(ascii: ":")),
            !reference[colon..<stop].contains(UInt8(ascii: "]"))
        {
            hostEnd = colon
            try readPort(reference[(colon + 1)..<stop], default: layout.port)
        }
        guard host < hostEnd else { throw .noHost(text) }
        layout.hostStart = output.count
        try appendHost(reference[host..<hostEnd])
        layout.hostEnd = output.count
        if layout.port != (isSecure ? 443 : 80) { output += ":\(layout.port)".utf8 }
    }

    private mutating func readPort(_ digits: ArraySlice<UInt8>, default port: UInt16) throws(WebURLError) {
        if digits.isEmpty { return }
        var number = 0
        for digit in digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { throw .badPort(text) }
            number = number * 10 + Int(digit - UInt8(ascii: "0"))
            guard number <= 65535 else { throw .badPort(text) }
        }
        layout.port = UInt16(number)
    }

    private mutating func appendHost(_ host: ArraySlice<UInt8>) throws(WebURLError) {
        if host.first == UInt8(ascii: "[") {
            guard host.last == UInt8(ascii: "]"), let address = IPv6Address(host.dropFirst().dropLast()) else {
                throw .badHost(text)
            }
            output += "[\(address.description)]".utf8
            return
        }
        var name: [UInt8] = []
        var index = host.startIndex
        while index < host.endIndex {
            let byte = host[index]
            index += 1
            if byte == UInt8(ascii: "%") {
                guard let decoded = PercentEncoding.byte(at: index - 1, of: host) else { throw .badHost(text) }
                name.append(decoded)
                index += 2
            } else {
                name.append(byte)
            }
        }
        guard let ascii = HostName.ascii(name), ascii.allSatisfy(URLPart.host.allows) else { throw .badHost(text) }
        output += ascii
    }

    /// - Parameter directory: the base's path, of which everything after the last slash is replaced.
    private mutating func appendPathAndQuery(_ start: Int, _ end: Int, directory: ArraySlice<UInt8>?) {
        var pathEnd = start
        while pathEnd < end, reference[pathEnd] != UInt8(ascii: "?") { pathEnd += 1 }
        layout.pathStart = output.count
        if let directory, let slash = directory.lastIndex(of: UInt8(ascii: "/")) {
            output += directory[...slash]
        } else {
            output.append(UInt8(ascii: "/"))
        }
        var index = start
        if index < pathEnd, directory == nil, isSlash(reference[index]) { index += 1 }
        appendSegments(index, pathEnd)
        layout.pathEnd = output.count
        if pathEnd < end { appendQuery(pathEnd, end) }
    }

    /// Appends segments to a path that ends with a slash, and removes dot segments (section 5.2.4).
    private mutating func appendSegments(_ start: Int, _ end: Int) {
        var index = start
        while index < end {
            var stop = index
            while stop < end, !isSlash(reference[stop]) { stop += 1 }
            let segmentStart = output.count
            appendEncoded(reference[index..<stop], .path)
            let isLast = stop == end
            switch output[segmentStart...] {
            case [UInt8(ascii: ".")]:
                output.removeLast(1)
            case [UInt8(ascii: "."), UInt8(ascii: ".")]:
                output.removeLast(2)
                dropLastSegment()
            default:
                if !isLast { output.append(UInt8(ascii: "/")) }
            }
            index = stop + 1
        }
    }

    /// "/a/b/" becomes "/a/"; "/" stays.
    private mutating func dropLastSegment() {
        guard output.count > layout.pathStart + 1 else { return }
        output.removeLast()
        while output.last != UInt8(ascii: "/") { output.removeLast() }
    }

    private mutating func appendQuery(_ start: Int, _ end: Int) {
        output.append(UInt8(ascii: "?"))
        appendEncoded(charset.encode(query: reference[(start + 1)..<end]), .query)
    }

    /// Percent-encodes what needs it, decodes what does not, and writes hexadecimal digits in upper case.
    private mutating func appendEncoded(_ bytes: ArraySlice<UInt8>, _ part: URLPart) {
        var index = bytes.startIndex
        while index < bytes.endIndex {
            let byte = bytes[index]
            index += 1
            if byte == UInt8(ascii: "%"), let decoded = PercentEncoding.byte(at: index - 1, of: bytes) {
                if PercentEncoding.isUnreserved(decoded) {
                    output.append(decoded)
                } else {
                    PercentEncoding.append(decoded, to: &output)
                }
                index += 2
            } else if part.allows(byte) {
                output.append(byte)
            } else {
                PercentEncoding.append(byte, to: &output)
            }
        }
    }

    // MARK: Bytes

    private func isSlash(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "/") || byte == UInt8(ascii: "\\") }

    private func startsWithTwoSlashes(_ start: Int, _ end: Int) -> Bool {
        start + 1 < end && isSlash(reference[start]) && isSlash(reference[start + 1])
    }

    /// The offset of the colon after the scheme, or nil if there is none.
    private func schemeEnd(before end: Int) -> Int? {
        for index in 0..<end {
            switch reference[index] {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): continue
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."):
                if index == 0 { return nil }
            case UInt8(ascii: ":"): return index == 0 ? nil : index
            default: return nil
            }
        }
        return nil
    }

    /// The text without spaces and control characters at both ends, and without tabs and line ends.
    private static func trim(_ text: some Collection<UInt8>) -> [UInt8] {
        var bytes = Array(text)
        while let last = bytes.last, last <= 0x20 { bytes.removeLast() }
        if let first = bytes.first, first <= 0x20 {
            bytes.removeSubrange(..<(bytes.firstIndex { $0 > 0x20 } ?? bytes.endIndex))
        }
        if bytes.contains(where: { $0 == 9 || $0 == 10 || $0 == 13 }) {
            bytes.removeAll { $0 == 9 || $0 == 10 || $0 == 13 }
        }
        return bytes
    }
}
