import Testing

@testable import LoopFetch

@Suite struct `Plain pages` {
    @Test func `a page is read as libxml2 reads it, or not at all`() throws {
        var pages = RandomPages(seed: 20)
        var plain = 0
        for _ in 0..<5_000 {
            let page = pages.next()
            guard let scanned = try scanned(page) else { continue }
            plain += 1
            let expected = try byLibrary(page)
            try #require(scanned == expected, "\(String(decoding: page, as: UTF8.self))")
        }
        #expect(plain > 1_000)
    }

    @Test(arguments: [
        "<!DOCTYPE html><title>a</title><p id=b>c<a href='d'>e</a>", "<a HREF = \"x\" Name=y>",
        "<html id=a><head><meta charset=utf-8><title>&lt;t&gt; &#8212; é</title></head><body id=b>",
        "<a href='?a=1&amp;b=2&c=3'>", "<!-- <a href=no> -- > --><a href=yes>", "<p id=a/>", "<br/><img src=a />",
        "<script>if (a < b && '<a href=no>' != \"</a>\") {}</SCRIPT ><a href=yes>", "<style><!-- a > b --></style>",
        "<?xml version=\"1.0\"?>\n<!DOCTYPE html PUBLIC \"-//W3C//DTD XHTML 1.0//EN\" \"http://a/b.dtd\">\n<html>",
        "<svg><title>no</title></svg><a href=a href=b>", "<a href='mailto:a&#64;b&#037;&lt;'>",
        "<p title='<a href=no>' id='a\nb'>", "", "no tags",
    ]) func `this is plain`(_ html: String) throws {
        let page = Array(html.utf8)
        let expected = try byLibrary(page)
        #expect(try scanned(page) == expected)
    }

    @Test(arguments: [
        "a < b<p>", "<>", "</ p>", "<p", "<p id='a", "<a href>", "<a href=''href=b 1=2>", "<a \"b\">", "<a / href=a>",
        "<a href='&#x40;'>", "<a href='&#233;'>", "<a href='&#64'>", "<a href='&eacute;'>",
        "<textarea><a href=no></textarea>", "<![CDATA[<a>]]>", "<!-->x-->",
        "<!-- --!><p>", "<!-- <p>", "<script><p></script>", "<script></scripts></script>", "<script>",
        "<style></b></style>",
        "<title><b></title>", "<title/>", "<p><html id=a>", "a<html id=a>", "<p><body id=a>", "<head id=a>", "<body/>",
        "<!doctype html '>'>", "<?", "<p id=>", "<_a>", "<p é=1>",
    ]) func `this is not plain`(_ html: String) throws {
        #expect(try scanned(Array((html + "<a href=end>").utf8)) == nil)
    }

    @Test(arguments: ["script", "style"])
    func `an html element after a script or a style sheet that is closed at once is not plain`(_ name: String) throws {
        #expect(try scanned(Array("<\(name)/><html id=a>".utf8)) == nil)
    }

    @Test(arguments: ["\u{FFFE}", "\u{FFFF}", "\u{FFFD}"])
    func `a title has the characters that it has for libxml2`(_ character: String) throws {
        let page = Array("<title>a\(character)b</title>".utf8)
        #expect(try scanned(page) == byLibrary(page))
    }

    @Test func `deep nesting and very many attributes are not plain`() throws {
        #expect(try scanned(Array(String(repeating: "<b></i>", count: 200_000).utf8)) == nil)
        #expect(try scanned(Array("<p \(String(repeating: "a='>' ", count: 2001))>".utf8)) == nil)
        #expect(try scanned(Array("<p a=\(String(repeating: "/a", count: 2001))>".utf8)) == nil)
        #expect(try scanned(Array(String(repeating: "<b></b>", count: 200_000).utf8)) != nil)
    }

    private func scanned(_ page: [UInt8]) throws -> ParsedPage? {
        let collector = LinkCollector()
        guard HTMLReader.scan(page, into: collector) else { return nil }
        return collector.page(at: try WebURL("http://site.example/docs/page.html"))
    }

    private func byLibrary(_ page: [UInt8]) throws -> ParsedPage {
        let collector = LinkCollector()
        #expect(HTMLReader.readByLibrary(page, into: collector))
        return collector.page(at: try WebURL("http://site.example/docs/page.html"))
    }
}

/// Pages of pieces of markup in any order; one in four with a byte that was changed.
private struct RandomPages {
    private var random: SplitMix

    init(seed: UInt64) { random = SplitMix(state: seed) }

    mutating func next() -> [UInt8] {
        var page = ""
        for _ in 0..<Int.random(in: 1...12, using: &random) { page += piece() }
        var bytes = Array(page.utf8)
        if Int.random(in: 0..<4, using: &random) == 0, let index = bytes.indices.randomElement(using: &random) {
            bytes[index] = "<>/\"'=&;-! a\r\n\t?#x\u{1}".utf8.randomElement(using: &random)!
        }
        return Array(String(decoding: bytes, as: UTF8.self).utf8)
    }

    private mutating func piece() -> String {
        switch Int.random(in: 0..<20, using: &random) {
        case 0: one(["<!doctype html>", "<!-- a -->", "<!-- <a href=no> - -- -->", "<?pi a?>", "<!---->", "<!--a--!>"])
        case 1: one(["<script>a<b</script>", "<style>a{}</style>", "<script src=a></script>", "<SCRIPT></script >"])
        case 2:
            one([
                "<title>a &amp; b</title>", "<title id=t>\n a é</title>", "<title></title>", "<title>&copy;&x</title>",
            ])
        case 3...6: one(["a", " ", "\n", "é", "&amp;", "&nbsp", "a > b", "&#65;", "]]>"])
        case 7...11: "</\(name())\(one(["", "", " "]))>"
        default: startTag()
        }
    }

    private mutating func startTag() -> String {
        var tag = "<\(name())"
        for _ in 0..<Int.random(in: 0...3, using: &random) { tag += one([" ", " ", "\n\t"]) + attribute() }
        return tag + one(["", "", "", " ", "/", " /"]) + ">"
    }

    private mutating func attribute() -> String {
        let name = one([
            "href", "id", "src", "name", "class", "HREF", "cite", "data", "type", "poster", "srcset", "rel", "content",
            "http-equiv", "data-x", "xml:id", "hrefs",
        ])
        let value = one([
            "a", "b/c", "#d", "../e?f=1&amp;g=2", "é", "x y", "refresh", "0;url=h", "a 1x, b", "&lt;", "mailto:a&#64;b",
        ])
        switch Int.random(in: 0..<8, using: &random) {
        case 0: return name
        case 1: return "\(name) = '\(value)'"
        case 2: return "\(name)=\(value)"
        case 3: return "\(name)='\(value)'"
        default: return "\(name)=\"\(value)\""
        }
    }

    private mutating func name() -> String {
        one([
            "a", "a", "p", "div", "span", "html", "head", "body", "img", "link", "meta", "base", "title", "li", "td",
            "table",
            "form", "iframe", "blockquote", "ins", "script", "style", "noscript", "h1", "input", "br", "A", "Body",
        ])
    }

    private mutating func one(_ choices: [String]) -> String { choices.randomElement(using: &random)! }
}
