import LoopFetch
import Testing

/// `WebURL` against libcurl, which has a parser of its own.
@Suite struct `web URLs and libcurl` {
    /// Otherwise one server would be checked and another one asked.
    @Test func `libcurl asks the server and the path that a URL names, or refuses the URL`() throws {
        var random = RandomURLs(seed: 24)
        var read = 0
        for _ in 0..<20_000 {
            let text = random.absolute()
            guard let url = try? WebURL(text), let library = LibraryURL(url.string) else { continue }
            read += 1
            try #require(library.scheme == url.scheme, "\(text)")
            // libcurl reads `1.2` as the address 1.0.0.2, as browsers do.
            try #require(library.host == Self.host(of: url) || Self.isUnusualAddress(url.host), "\(text)")
            try #require(library.port == "\(url.port)", "\(text)")
            try #require(library.path == url.path, "\(text)")
            try #require(library.query ?? "" == url.query ?? "", "\(text)")
        }
        #expect(read > 5_000)
    }

    @Test func `plain references mean what they mean to libcurl`() throws {
        var random = RandomURLs(seed: 25)
        for _ in 0..<5_000 {
            let page = random.plainPage()
            let reference = random.plainReference()
            let meant = try WebURL(page).resolve(reference).string
            try #require(meant == LibraryURL.resolve(reference, on: page), "\(reference) on \(page)")
        }
    }

    /// libcurl keeps the brackets of an IPv6 address.
    private static func host(of url: WebURL) -> String { url.host.contains(":") ? "[\(url.host)]" : url.host }

    /// Whether a host is an IPv4 address in another form than the usual one, such as `1.2` or `01.2.3.4`.
    private static func isUnusualAddress(_ host: String) -> Bool {
        let labels = host.split(separator: ".")
        guard labels.last?.first?.isNumber == true else { return false }
        return labels.count != 4 || !labels.allSatisfy { UInt8($0).map(String.init) == String($0) }
    }
}

/// URLs of pieces in any order.
private struct RandomURLs {
    private var random: SplitMix

    init(seed: UInt64) { random = SplitMix(state: seed) }

    /// Anything that may stand in an `href`; one in three with a byte that was changed.
    mutating func absolute() -> String {
        var text = one(["http://", "https://", "HTTP://", "http:", "http:/", "http:///", "http:\\\\", " http://"])
        text += one(["", "", "", "ann@", "ann:secret@", "a@b@", "a:b:c@", "%40@", "@", ":@"])
        text += one([
            "a", "Site.Example", "site.example.", "a%2Db", "a%40b", "a%3A1", "a%2Fb", "a%23b", "é.example", "[::1]",
            "[2001:DB8:0:0:0:0:0:1]",
            "[::ffff:1.2.3.4]", "a_b", "1.2.3.4", "-a", "a..b",
        ])
        text += one(["", "", "", ":", ":80", ":443", ":8080", ":0", ":65535", ":00080"])
        for _ in 0..<Int.random(in: 0...4, using: &random) { text += segment() }
        text += one(["", "", "?", "?q", "?q=a b&c=/../d", "?q?r", "?\\é%c3{}"])
        text += one(["", "", "#", "#f", "#/a?b#c"])
        guard Int.random(in: 0..<3, using: &random) == 0 else { return text }
        var bytes = Array(text.utf8)
        bytes[bytes.indices.randomElement(using: &random)!] = "/\\:@?#%[]. \t\n\u{1}a0\"<>^|;&='".utf8.randomElement(
            using: &random)!
        return String(decoding: bytes, as: UTF8.self)
    }

    /// A page whose URL is in its normal form already.
    mutating func plainPage() -> String {
        var text = one(["http://a", "https://site.example", "http://a:8080", "http://[::1]:81"]) + "/"
        for _ in 0..<Int.random(in: 0...3, using: &random) {
            text += one(["b/", "c.d/", "e;f/", "%20/", "g=h/", "~/"])
        }
        return text + one(["", "page.html", "p;q"]) + one(["", "", "?x=y", "?x/../y"])
    }

    /// A reference in which nothing is to be encoded, and none of those that libcurl 7.88 reads otherwise than RFC 3986:
    /// it drops the page's name for `#f` and the last slash for `./?y`.
    mutating func plainReference() -> String {
        var text = one(["", "", "", "/", "//b.example/", "../", "./", "https://c.example:8443/"])
        for _ in 0..<Int.random(in: 0...4, using: &random) {
            text += one(["../", "./", "a/", "..a/", "a../", ".a/", ".../", "a;b=1/", "%2F/", "a//"])
        }
        switch Int.random(in: 0..<4, using: &random) {
        case 0: text += one([".", "..", "./"])
        case 1: text += one(["x.html", "x", "x,y", "..."]) + one(["?y", "?y=/../z", "?y?z", "?a=b&c=d"])
        default: text += one(["x.html", "x", "x,y", "..."])
        }
        return text + one(["", "", "#f", "#/../f", "#f?g"])
    }

    private mutating func segment() -> String {
        one([
            "/", "/a", "/b.html", "/.", "/..", "/%2e", "/%2E%2e", "\\c", "/é", "/d e", "/%7E%c3", "/%", "/\"<>",
            "/a//b", "//",
        ])
    }

    private mutating func one(_ choices: [String]) -> String { choices.randomElement(using: &random)! }
}
