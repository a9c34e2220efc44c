// Unsafe: the bytes of a page are lent by the caller of the scan, and nothing keeps them after it.

/// Says what the references of one page mean: each part before a `#` is resolved once, however many places in it are
/// linked.
struct LinkResolver {
    private let base: WebURL
    private let charset: Charset
    private var parts = ByteTable()
    /// The number of each part's target, or nil if the part is no URL to fetch.
    private var meanings: [Int?] = []
    private var targetNumbers: [String: Int] = [:]
    private var targets: [String] = []
    private var links = ByteTable()
    private var key: [UInt8] = []

    /// - Parameters:
    ///   - base: What relative references are relative to, without a fragment.
    ///   - charset: The encoding of the page, in which queries are sent.
    init(base: WebURL, charset: Charset) {
        self.base = base
        self.charset = charset
    }

    /// Adds what a reference means to what the page says.
    mutating func resolve(_ reference: UnsafeBufferPointer<UInt8>, into page: inout ParsedPage) {
        // Spaces at the ends mean nothing, so that a part before `#` is not by itself what it is in the whole.
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
            add(number(of: url.string), url.fragment, to: &page)
        } catch .otherScheme {
            // References such as mailto: and javascript: are not fetched.
        } catch {
            page.malformedLinks.append(text)
        }
    }

    private mutating func meaning(of part: UnsafeBufferPointer<UInt8>) -> Int? {
        let (number, isNew) = unsafe parts.intern(part)
        if isNew {
            let url = try? unsafe base.resolve(String(decoding: part, as: UTF8.self), charset: charset)
            meanings.append(url.map { self.number(of: $0.string) })
        }
        return meanings[number]
    }

    private mutating func number(of target: String) -> Int {
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

    /// The name that a fragment means, without the directive (`:~:text=…`) that is for the browser only.
    private static func place(_ fragment: String?) -> String? {
        guard var fragment, !fragment.isEmpty else { return nil }
        if fragment.utf8.contains(UInt8(ascii: "~")), let directive = fragment.firstRange(of: ":~:") {
            fragment = String(fragment[..<directive.lowerBound])
        }
        let name = Percent.decode(fragment)
        return ParsedPage.isOnEveryPage(name) ? nil : name
    }
}
