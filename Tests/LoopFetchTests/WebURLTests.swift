import Glibc
import LoopFetch
import Testing

@Suite struct `web URLs` {
    /// RFC 3986 section 5.4, against the base `http://a/b/c/d;p?q`. The normal form of an empty path is "/".
    @Test(arguments: [
        ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"), ("/g", "http://a/g"),
        ("//g", "http://g/"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"),
        ("#s", "http://a/b/c/d;p?q#s"), ("g#s", "http://a/b/c/g#s"), ("g?y#s", "http://a/b/c/g?y#s"),
        (";x", "http://a/b/c/;x"), ("g;x", "http://a/b/c/g;x"), ("g;x?y#s", "http://a/b/c/g;x?y#s"),
        ("", "http://a/b/c/d;p?q"), (".", "http://a/b/c/"), ("./", "http://a/b/c/"), ("..", "http://a/b/"),
        ("../", "http://a/b/"), ("../g", "http://a/b/g"), ("../..", "http://a/"), ("../../", "http://a/"),
        ("../../g", "http://a/g"),
        ("../../../g", "http://a/g"), ("../../../../g", "http://a/g"), ("/./g", "http://a/g"),
        ("/../g", "http://a/g"), ("g.", "http://a/b/c/g."), (".g", "http://a/b/c/.g"), ("g..", "http://a/b/c/g.."),
        ("..g", "http://a/b/c/..g"), ("./../g", "http://a/b/g"), ("./g/.", "http://a/b/c/g/"),
        ("g/./h", "http://a/b/c/g/h"), ("g/../h", "http://a/b/c/h"), ("g;x=1/./y", "http://a/b/c/g;x=1/y"),
        ("g;x=1/../y", "http://a/b/c/y"), ("g?y/./x", "http://a/b/c/g?y/./x"),
        ("g?y/../x", "http://a/b/c/g?y/../x"), ("g#s/./x", "http://a/b/c/g#s/./x"),
        ("g#s/../x", "http://a/b/c/g#s/../x"), ("http:g", "http://a/b/c/g"),
    ])
    func `the examples of RFC 3986 resolve as it says`(reference: String, expected: String) throws {
        #expect(try WebURL("http://a/b/c/d;p?q").resolve(reference).description == expected)
    }

    @Test func `a reference with another scheme is refused by the name of the scheme`() throws {
        let base = try WebURL("http://a/b/c/d;p?q")
        for (reference, scheme) in [("g:h", "g"), ("mailto:a@b", "mailto"), ("JavaScript:void(0)", "javascript")] {
            #expect(throws: WebURLError.otherScheme(scheme)) { try base.resolve(reference) }
        }
    }

    @Test(arguments: [
        ("HTTP://EXAMPLE.com:80", "http://example.com/"),
        ("https://example.com:443/a", "https://example.com/a"),
        ("https://example.com:80/a", "https://example.com:80/a"),
        ("http://example.com:/a", "http://example.com/a"),
        ("http://example.com/%7Eann/%c3%a9%2fx", "http://example.com/~ann/%C3%A9%2Fx"),
        ("http://example.com/a/%2e%2E/b", "http://example.com/b"),
        ("http://example.com/a b\"<é>", "http://example.com/a%20b%22%3C%C3%A9%3E"),
        ("http://example.com/100%", "http://example.com/100%"),
        ("http://example.com?q=a b&c='d'", "http://example.com/?q=a%20b&c=%27d%27"),
        ("http://example.com/a?", "http://example.com/a?"),
        ("http://example.com/a//b/", "http://example.com/a//b/"),
        ("http:\\\\example.com\\a\\b?x\\y", "http://example.com/a/b?x\\y"),
        ("  \n http://exam\nple.com/\ta \t", "http://example.com/a"),
        ("http:///example.com/a", "http://example.com/a"),
        ("http:example.com", "http://example.com/"),
        ("http://☕.invalid/", "http://xn--53h.invalid/"),
        ("http://Ü☕。x/", "http://xn--tda801q.x/"),
        ("http://faß.ü$/", "http://xn--fa-hia.xn--$-dha/"),
        ("http://user:pass@Example.com/", "http://user:pass@example.com/"),
        ("http://%65xample.com/", "http://example.com/"),
        ("http://[2001:DB8:0:0:0:0:0:1]:8080/x", "http://[2001:db8::1]:8080/x"),
        ("http://[::FFFF:127.0.0.1]/", "http://[::ffff:7f00:1]/"),
        ("http://[::]/", "http://[::]/"),
        ("http://[1:0:0:2:0:0:0:3]/", "http://[1:0:0:2::3]/"),
    ])
    func `the normal form is one for all ways to write a URL`(text: String, expected: String) throws {
        let url = try WebURL(text)
        #expect(url.string == expected)
        #expect(try WebURL(url.string) == url)
    }

    /// The system writes the last 32 bits of some addresses as an IPv4 address; browsers do not.
    @Test func `an IPv6 address is written as the system writes it`() throws {
        var random = SplitMix(state: 26)
        for _ in 0..<5_000 {
            let groups = (0..<8).map { _ in
                Bool.random(using: &random) ? 0 : UInt16.random(in: 0 ... .max, using: &random)
            }
            let full = groups.map { String($0, radix: 16, uppercase: true) }.joined(separator: ":")
            var address = in6_addr()
            var characters = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
            #expect(inet_pton(AF_INET6, full, &address) == 1)
            #expect(inet_ntop(AF_INET6, &address, &characters, UInt32(INET6_ADDRSTRLEN)) != nil)
            let expected = String(decoding: characters.prefix { $0 != 0 }.map(UInt8.init), as: UTF8.self)
            let url = try WebURL("http://[\(full)]/")
            try #require(url.host == expected || expected.contains("."))
            let again = try WebURL("http://[\(expected)]/")
            try #require(url == again)
        }
    }

    @Test func `a URL is read by its parts`() throws {
        let url = try WebURL("https://ann@[::1]:8443/a/b.html?q=1#Se%20ct")
        #expect(url.scheme == "https")
        #expect(url.host == "::1")
        #expect(url.port == 8443)
        #expect(url.path == "/a/b.html")
        #expect(url.query == "q=1")
        #expect(url.fragment == "Se%20ct")
        #expect(url.isLoopback)
        #expect(url.string == "https://ann@[::1]:8443/a/b.html?q=1")
        #expect(url.withoutFragment.description == url.string)
        let plain = try WebURL("http://example.com")
        #expect(plain.port == 80)
        #expect(plain.query == nil)
        #expect(plain.fragment == nil)
        #expect(plain.path == "/")
        #expect(!plain.isLoopback)
    }

    @Test func `what is no URL says why`() {
        #expect(throws: WebURLError.notAbsolute("docs/x.html")) { try WebURL("docs/x.html") }
        #expect(throws: WebURLError.notAbsolute("")) { try WebURL("") }
        #expect(throws: WebURLError.noHost("http://")) { try WebURL("http://") }
        #expect(throws: WebURLError.noHost("http://:80/")) { try WebURL("http://:80/") }
        #expect(throws: WebURLError.badPort("http://a:b/")) { try WebURL("http://a:b/") }
        #expect(throws: WebURLError.badPort("http://a:65536/")) { try WebURL("http://a:65536/") }
        for host in [
            "a b", "a<b", "a%00b", "a%2", "a^b", "[::1", "[1::2::3]", "[12345::]", "[1:2]", "[::1%25lo]", "[]",
            "[::01.2.3.4]", "☕<", "☕%25", "☕ ", "ß☕", "👨\u{200D}👩", "[1:2:3:4:5:6:7:8:9]",
        ] {
            #expect(throws: WebURLError.badHost("http://\(host)/")) { try WebURL("http://\(host)/") }
        }
        #expect(throws: WebURLError.otherScheme("ftp")) { try WebURL("ftp://a/b") }
    }
}
