import CBOR
import LoopCore
import Testing

@testable import LoopExamples
@testable import LoopFetch

@Suite struct `link check packing` {
    private func pieces(_ lines: String) -> [String] {
        LinkLines.links(lines).flatMap { line in
            [line.target] + line.fragments.map { "#" + $0 }
        }
    }

    @Test func `a line is a target and its fragments`() {
        #expect(
            pieces("/a\n/b#x##y\n\nhttp://o/#\n/c#z") == [
                "/a", "#", "/b", "#x", "#", "#y", "http://o/", "#", "/c", "#z",
            ])
        #expect(pieces("") == [])
        #expect(pieces("\n\n") == [])
    }

    @Test func `the links of a page are a line for each target in the order of the page`() {
        let lines = PaperSite.lines(
            "http://h/d/p", ["b", "a#x y", "b#z", "http://o/#q", "/out", "http://[", "a"], [], base: "http://h/d")
        #expect(
            lines.lines == ["/b##z\n", "/a#x%20y#\n", "http://o/#q\n", "http://h/out\n", "!http://[\n"])
    }

    @Test func `a URL that is too long is cut and reported`() {
        let long = "http://h/" + String(repeating: "x", count: 10_000)
        let report = PaperSite(["http://h/": .page(links: [long])]).report(.site())
        #expect(report.broken.first?.error == "URL of more than 8192 bytes")
        #expect(report.broken.first?.url.hasSuffix("xxx…") == true)
        #expect(report.links == 1)
    }

    @Test func `a page with very many links and anchors is sent in events that are small enough`() throws {
        let links = (0..<9000).map { "p\($0 % 3000)/a-rather-long-name.html#part-\($0)" }
        let own = (0..<30_000).map { "#\($0)" }
        let anchors = Set((0..<30_000).map(String.init))
        var site = PaperSite(["http://h/": .page(links: links + own, anchors: anchors)])
        site.partBytesMax = 200 << 10
        let job = try #require(LinkCheck(settings: .site()).initial.requests[0])
        let events = site.events(for: job)
        #expect(events.count > 2)
        for event in events { #expect(try CBOR.encode(event).count < 512 << 10) }

        let state = site.check(.site { $0.pagesMax = 1 })
        #expect(state.linksCount == 39_000)
        #expect(LinkReport(state).broken.count == 3000)
    }

    @Test func `hashes of anchors are those of FNV-1a`() {
        // The test vectors of draft-eastlake-fnv, 64 bits.
        #expect(AnchorSet.hash("".utf8) == 0xcbf2_9ce4_8422_2325)
        #expect(AnchorSet.hash("a".utf8) == 0xaf63_dc4c_8601_ec8c)
        #expect(AnchorSet.hash("foobar".utf8) == 0x8594_4171_f739_67e8)
        let set = AnchorSet(hashes: ["x", "y", "z"].map { AnchorSet.hash($0.utf8) }.sorted())
        #expect(set.contains("y"))
        #expect(!set.contains("w"))
        #expect(!AnchorSet(hashes: []).contains("y"))
    }

    @Test(arguments: [
        ("/old/", "/old/x", true), ("/old/", "/new/old/", false), ("*.pdf", "/a/b.pdf", true),
        ("*.pdf", "/a/b.pdfx", false), ("/a*b*c", "/axbybzc", true), ("/a*b*c", "/acb", false), ("a*a", "a", false),
        ("*", "", true), ("**", "x", true), ("a*", "abc", true),
    ])
    func `a pattern is a prefix or has stars`(pattern: String, url: String, matches: Bool) {
        #expect(URLPattern(pattern).matches(url) == matches)
    }

    @Test func `seconds have three decimals`() {
        #expect(LinkReport.number(1.5) == "1.500")
        #expect(LinkReport.number(0) == "0.000")
        #expect(LinkReport.number(-12.3456) == "-12.346")
    }
}
