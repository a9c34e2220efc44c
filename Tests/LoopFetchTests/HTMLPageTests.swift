import Testing

@testable import LoopFetch

/// What a page at http://site.example/docs/page.html leads to, each link as one text.
private func links(_ html: String, url: String = "http://site.example/docs/page.html") throws -> [String] {
    try PageParser.html(Array(html.utf8), url: WebURL(url)).links.map(\.text)
}

private func parse(_ html: String) throws -> ParsedPage {
    try PageParser.html(Array(html.utf8), url: WebURL("http://site.example/docs/page.html"))
}

extension ParsedPage.Link {
    /// The link without what all pages of these tests have in common.
    var text: String {
        let site = "http://site.example"
        let target = target.hasPrefix(site) ? String(target.dropFirst(site.count)) : target
        return fragment.map { "\(target)#\($0)" } ?? target
    }
}

@Suite struct `HTML pages` {
    @Test func `every element that loads or leads somewhere is a link`() throws {
        let html = """
            <link rel=stylesheet href=a.css><link rel="preconnect" href=//cdn.example><link rel="DNS-prefetch x" href=y>
            <link rel=canonical href=/c><script src=b.js></script><script>var x = "<a href=no>"</script>
            <a href=1>1</a><area href=2><img src=3 srcset="4 1x, 5 2x,6"><picture><source srcset=7 src=8></picture>
            <iframe src=9></iframe><embed src=10><object data=11></object>
            <video src=12 poster=13></video><audio src=14></audio><track src=15><input type=IMAGE src=16>
            <input type=text src=no><blockquote cite=17><q cite=18>q</q></blockquote><form action=no></form>
            """
        let numbered: [String] = (1...18).map { "/docs/\($0)" }
        let expected: [String] = ["/docs/a.css", "/c", "/docs/b.js"] + numbered
        #expect(try links(html) == expected)
    }

    @Test func `links are distinct and in the order of the page`() throws {
        let html = "<a href=b>1</a><a href=a>2</a><a href=./b>3</a><a href=b#x>4</a><a href=' b '>5</a><img src=b>"
        #expect(try links(html) == ["/docs/b", "/docs/a", "/docs/b#x"])
    }

    @Test func `each place in a target is a link of its own`() throws {
        let html = "<a href='b #x'>1</a><a href=b#x>2</a><a href=b#y>3</a><a href=./b#%79>4</a><a href=b#x#y>5</a>"
        #expect(try links(html) == ["/docs/b%20#x", "/docs/b#x", "/docs/b#y", "/docs/b#x#y"])
        // One letter that is written in two ways gives two URLs.
        #expect(try links("<a href=\u{E9}>1</a><a href=e\u{301}>2</a>") == ["/docs/%C3%A9", "/docs/e%CC%81"])
    }

    @Test func `a frameset leads to its frames`() throws {
        #expect(
            try links("<frameset><frame src=left.html><frame src=right.html></frameset>") == [
                "/docs/left.html", "/docs/right.html",
            ])
    }

    @Test func `the first base counts for the whole page, also for fragments`() throws {
        let html = "<a href=x>x</a><base target=t><base href='/other/y.html#z'><base href=/no/><a href='#f'>f</a>"
        #expect(try links(html) == ["/other/x", "/other/y.html#f"])
    }

    @Test func `whitespace, line ends and entities in URLs are read as browsers do`() throws {
        let html =
            "<a href='  a\n\tb c&amp;d=1&#x26;e&copy=2 '>x</a><a href='\\\\host.example\\p'>y</a><a href=é?ü#ö>z</a>"
        #expect(
            try links(html)
                == ["/docs/ab%20c&d=1&e&copy=2", "http://host.example/p", "/docs/%C3%A9?%C3%BC#ö"])
    }

    @Test func `other schemes are no links`() throws {
        let page = try parse(
            "<a href=mailto:a@b>m</a><a href=' javascript:void(0)'>j</a><a href=tel:1>t</a><img src=data:,x><a href=tel:1>t</a>"
        )
        #expect(page.links.isEmpty)
        #expect(page.malformedLinks.isEmpty)
    }

    @Test func `what is no URL is reported as it was written`() throws {
        let page = try parse(
            "<a href='http://a b/'>1</a><a href=https://host:port/>2</a><a href=http://>3</a><a href=ok>4</a>")
        #expect(page.malformedLinks == ["http://a b/", "https://host:port/", "http://"])
        #expect(page.links.map(\.text) == ["/docs/ok"])
    }

    @Test func `a refresh leads to another page`() throws {
        for content in [
            "0;url=next.html", "5; URL = 'next.html'", "0, next.html", "0;url=\"next.html\" x", "0 next.html",
            ".5;next.html", "1.5 ;URL= next.html",
        ] {
            let html = "<meta http-equiv=Refresh content=\(content.contains("\"") ? "'\(content)'" : "\"\(content)\"")>"
            #expect(try links(html) == ["/docs/next.html"], "\(content)")
        }
        #expect(try links("<meta http-equiv=refresh content='0;url next.html'>") == ["/docs/url%20next.html"])
        for content in ["30", "x; url=no", "; url=no", "0x; url=no", "-1; url=no", "0;", ""] {
            #expect(try links("<meta http-equiv=refresh content='\(content)'>").isEmpty, "\(content)")
        }
        #expect(try links("<meta name=x content='0;url=no'>").isEmpty)
    }

    @Test func `fragments are decoded, and those of every page dropped`() throws {
        let html =
            "<a href=#>1</a><a href=#TOP>2</a><a href='#a%20b'>3</a><a href='x#%C3%BC'>4</a><a href='y#:~:text=hi'>5</a><a href='y#s:~:text=hi'>6</a><a href>7</a>"
        #expect(
            try links(html) == [
                "/docs/page.html", "/docs/page.html#a b", "/docs/x#ü", "/docs/y", "/docs/y#s",
            ])
    }

    @Test func `anchors are ids of all elements and names of links`() throws {
        let page = try parse(
            "<p id=one><a name=two><a name='' id=three><div name=no><svg><g id=four></g></svg><h2 id='a b'><p id=c%20d>"
        )
        #expect(page.anchors == ["one", "two", "three", "four", "a b", "c%20d", "c d"])
    }

    @Test func `broken markup is read for what it holds`() throws {
        #expect(try links("</b></i><a href=1></html><a href=\"2\"><p>") == ["/docs/1", "/docs/2"])
        let twice = try links("<a href=1 href=no></a><a href=2 href=no>")
        #expect(twice == ["/docs/1", "/docs/2"])
        #expect(try links("<!-- <a href=no> --><a href=yes><!-- unclosed <a href=no>") == ["/docs/yes"])
        #expect(try links("") == [])
        #expect(try links("<") == [])
        #expect(try links("<a href='unclosed") == [])
        #expect(try links("plain text & < > &#xFFFFFFFF; &bogus;") == [])
        let zero = Array("<a href=1>\0</a>\0<a href=2>".utf8)
        #expect(try PageParser.html(zero, url: WebURL("http://site.example/")).links.map(\.text) == ["/1", "/2"])
    }

    @Test func `an attribute of a megabyte is no problem`() throws {
        let long = String(repeating: "x", count: 1 << 20)
        #expect(try links("<a href='\(long)'>1</a><p title='\(long)'><a href=2>") == ["/docs/\(long)", "/docs/2"])
    }

    @Test func `hostile markup takes no longer than other markup`() throws {
        let deep =
            "<a href=1>" + String(repeating: "<svg><title>", count: 100_000) + String(repeating: "</i>", count: 100_000)
        #expect(try links(deep + "</title></svg><a href=2>") == ["/docs/1", "/docs/2"])
        let attributes = (0..<200_000).map { " a\($0)='>'" }.joined()
        #expect(try links("<p\(attributes)><a href=3>") == ["/docs/3"])
    }

    @Test func `a page ends at every byte without harm`() throws {
        let html = Array(
            "<!DOCTYPE html><base href=/é/><a name='&amp;' href=\"x#y\">é</a><img srcset='a 1x, b'><!-- c -->".utf8)
        for count in 0...html.count {
            _ = try PageParser.html(Array(html[..<count]), url: WebURL("http://site.example/"))
        }
    }

    @Test(arguments: encodedPages)
    fileprivate func `a page is read in its own encoding`(_ encoded: EncodedPage) throws {
        let url = try WebURL("http://site.example/")
        let page = PageParser.parse(encoded.bytes, contentType: encoded.contentType, url: url)
        #expect(page?.anchors == [encoded.id])
    }

    @Test(
        arguments: [
            ("shift_jis", [0x95, 0x5C], "%95%5C"), ("windows-1251", [0xE6], "%E6"), ("iso-8859-1", [0x80], "%80"),
            ("utf-16le", Array("é".utf8), "%C3%A9"), ("x-none", [0xE9], "%E9"),
            ("windows-1251", Array("&eacute;".utf8), "%26%23233%3B"),
            ("iso-2022-jp", Array("&#x8868;".utf8), "%1B%24BI%3D%1B%28B"), ("gb2312", Array("&euro;".utf8), "%80"),
            ("gbk", Array("&#x8868;&#x1F600;".utf8), "%B1%ED%26%23128512%3B"),
            ("gb18030", Array("&euro;".utf8), "%A2%E3"),
        ] as [(String, [UInt8], String)])
    func `a query is sent in the encoding of the page, a path in UTF-8`(
        _ charset: String, _ text: [UInt8], _ sent: String
    ) throws {
        let html =
            Array("<meta charset=\(charset)><a href='?a=".utf8) + text
            + Array("'><a href='\u{26}eacute;#\u{26}eacute;'>".utf8)
        let page = PageParser.html(html, url: try WebURL("http://site.example/"))
        #expect(page.links.map(\.text) == ["/?a=\(sent)", "/%C3%A9#é"])
    }

    @Test func `an encoding that is not known is named`() throws {
        func unread(_ bytes: [UInt8], _ charset: String?) throws -> String? {
            PageParser.html(bytes, charset: charset, url: try WebURL("http://site.example/")).unread
        }
        #expect(try unread([0xE9], "x-none") == "unknown encoding x-none")
        #expect(try unread(Array("<meta charset=x-none>".utf8) + [0xE9], nil) == "unknown encoding x-none")
        #expect(try unread(Array("<p>".utf8), "x-none") == nil)
        #expect(try unread([0xE9], nil) == nil)
        #expect(try unread([0x4C, 0x81, 0x6E], "ibm037") == nil)
        #expect(try unread(Array("<a href=x>".utf8), "utf-16") == "not UTF-16, although it says so")
        #expect(try unread(Array("<\0a\0>\0".utf8), "utf-16be") == "not UTF-16, although it says so")
        #expect(try unread(Array("\0<\0a\0>".utf8), "utf-16") == "not UTF-16, although it says so")
        #expect(try unread(Array("\0<\0a\0>".utf8), "utf-16be") == nil)
    }

    @Test func `only pages are parsed`() throws {
        let url = try WebURL("http://site.example/")
        #expect(PageParser.parse([], contentType: "image/png", url: url) == nil)
        #expect(PageParser.parse([], contentType: "TEXT/HTML ; x=y", url: url) != nil)
        #expect(PageParser.parse([], contentType: nil, url: url) != nil)
        #expect(PageParser.parse([], contentType: "text/markdown", url: url) != nil)
    }
}

private struct EncodedPage: Sendable, CustomTestStringConvertible {
    let contentType: String
    let bytes: [UInt8]
    let id: String
    var testDescription: String { "\(contentType): \(id)" }

    init(_ contentType: String, _ bytes: [UInt8], _ id: String) {
        self.contentType = contentType
        self.bytes = bytes
        self.id = id
    }

    /// `<p id=` in ASCII, then these bytes.
    static func ascii(_ id: [UInt8], after head: String = "") -> [UInt8] {
        Array("\(head)<p id=".utf8) + id + Array(">".utf8)
    }

    static func utf16(isBigEndian: Bool) -> [UInt8] {
        var bytes: [UInt8] = []
        for unit in "\u{FEFF}<p id=é>".utf16 {
            let (high, low) = (UInt8(unit >> 8), UInt8(unit & 255))
            bytes += isBigEndian ? [high, low] : [low, high]
        }
        return bytes
    }
}

private let metaRussian = "<meta charset='windows-1251'>"
private let metaJapanese = "<meta http-equiv=content-type content='text/html; charset=Shift_JIS'>"
private let encodedPages: [EncodedPage] = [
    EncodedPage("text/html; charset=iso-8859-1", EncodedPage.ascii([0xE9, 0x80]), "é€"),
    EncodedPage("text/html; charset=\"UTF-8\"", EncodedPage.ascii(Array("é€".utf8)), "é€"),
    EncodedPage("text/html", EncodedPage.ascii(Array("é€".utf8)), "é€"),
    EncodedPage("text/html", EncodedPage.ascii([0xE9, 0x80]), "é€"),
    EncodedPage("text/html; charset=windows-1251", EncodedPage.ascii([0xE6]), "ж"),
    EncodedPage("text/html", EncodedPage.ascii([0xE6], after: metaRussian), "ж"),
    EncodedPage("text/html", EncodedPage.ascii([0x83, 0x65], after: metaJapanese), "テ"),
    EncodedPage("text/html; charset=utf-16", EncodedPage.utf16(isBigEndian: false), "é"),
    EncodedPage("text/html", EncodedPage.utf16(isBigEndian: true), "é"),
    EncodedPage("text/html; charset=x-unknown", EncodedPage.ascii(Array("é".utf8)), "é"),
    EncodedPage("text/html; charset=utf-8", EncodedPage.ascii([0x61, 0xFF, 0x62]), "a\u{FFFD}b"),
    EncodedPage(
        "application/xhtml+xml", [0xEF, 0xBB, 0xBF] + EncodedPage.ascii(Array("é".utf8)), "é"),
]
