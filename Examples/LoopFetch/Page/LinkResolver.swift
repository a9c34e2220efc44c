// Unsafe: the bytes of a page are lent by the caller of the scan, and nothing keeps them after it.

internal import LoopCore

/// Resolves the references of one page. Each part before a `#` is resolved once, whatever the number of its fragments.
struct LinkResolver {
    private let base: WebURL
    private let charset: Charset
    private var parts = ByteTable()
    /// The target numbers of the parts, or nil for a part that is no URL to fetch.
    private var meanings: [Int?] = []
    private var targetNumbers: [String: Int] = [:]
    private var targets: [String] = []
    private var links = ByteTable()
    private var key: [UInt8] = []

    /// - Parameters:
    ///   - base: the base of relative references, without a fragment.
    ///   - charset: the encoding of the page, in which queries are sent.
    init(base: WebURL, charset: Charset) {
        self.base = base
        self.charset = charset
    }

    /// Resolves a reference and adds the result to the page.
    mutating func resolve(_ reference: UnsafeBufferPointer<UInt8>, into page: inout ParsedPage) {
        // Spaces at the ends are ignored, so the part before `#` may differ when it is resolved alone.
        if unsafe reference.contains(where: { $0 <= 0x20 }) { return unsafe resolveWhole(reference, into: &page) }
        let hash = unsafe reference.firstIndex(of: UInt8(ascii: "#")) ?? reference.count
        guard let target = unsafe meaning(of: UnsafeBufferPointer(rebasing: reference[..<hash])) else {
            return unsafe resolveWhole(reference, into: &page)
        }
        let fragment = unsafe reference[min(hash + 1, reference.count)...]
        unsafe add(target, fragment.isEmpty ? nil : String(decoding: fragment, as: UTF8.self), to: &page)
    }

    private mutating func resolveWhole(_ reference: UnsafeBufferPointer<UInt8>, into page: inout ParsedPage) {
        let text = unsafe String(decoding: reference, as: UTF8.self)
        do throws(WebURLError) {
            let url = try base.resolve(text, charset: charset)
            add(number(of: url), url.fragment, to: &page)
        } catch .otherScheme {
            // URLs such as mailto: or javascript: are not fetched.
        } catch {
            page.malformedLinks.append(WebURL.withoutUser(text))
        }
    }

    private mutating func meaning(of part: UnsafeBufferPointer<UInt8>) -> Int? {
        let (number, isNew) = unsafe parts.intern(part)
        if isNew {
            let url = try? unsafe base.resolve(String(decoding: part, as: UTF8.self), charset: charset)
            meanings.append(url.map { self.number(of: $0) })
        }
        return meanings[number]
    }

    private mutating func number(of url: WebURL) -> Int {
        let target = url.stringWithoutUser
        if let number = targetNumbers[target] { return number }
        targets.append(target)
        targetNumbers[target] = targets.count - 1
        return targets.count - 1
    }

    private mutating func add(_ target: Int, _ fragment: String?, to page: inout ParsedPage) {
        let fragment = Self.place(fragment)
        key.removeAll(keepingCapacity: true)
        unsafe withUnsafeBytes(of: UInt32(target)) { unsafe key.append(contentsOf: $0) }
        if let fragment { key.append(contentsOf: fragment.utf8) }
        guard unsafe key.withUnsafeBufferPointer({ unsafe links.intern($0).isNew }) else { return }
        page.links.append(ParsedPage.Link(target: targets[target], fragment: fragment))
    }

    /// The anchor that a fragment names, without the directive (`:~:text=…`), which is for browsers only.
    private static func place(_ fragment: String?) -> String? {
        guard var fragment, !fragment.isEmpty else { return nil }
        if fragment.utf8.contains(UInt8(ascii: "~")), let directive = fragment.firstRange(of: ":~:") {
            fragment = String(fragment[..<directive.lowerBound])
        }
        let name = PercentEncoding.decode(fragment)
        return ParsedPage.isOnEveryPage(name) ? nil : name
    }
}
