import LoopCore
import Testing

@testable import LoopExamples

@Suite struct `link check rules` {
    private func broken(_ replies: [String: PaperSite.Reply], _ settings: CheckSettings = .site()) -> [String] {
        PaperSite(replies).report(settings).broken.map(\.line)
    }

    @Test func `a page that is not there is reported with everyone who links to it`() {
        let lines = broken([
            "http://h/": .page(links: ["a.html", "gone.html"]),
            "http://h/a.html": .page(links: ["/gone.html#x", "gone.html"]),
        ])
        #expect(lines == ["/gone.html 404 < / /a.html"])
    }

    @Test func `a missing fragment is an entry of its own with the status of its page`() {
        let lines = broken([
            "http://h/": .page(links: ["a.html#here", "a.html#there", "#self", "#own"], anchors: ["own"]),
            "http://h/a.html": .page(links: ["#there", "#here"], anchors: ["here"]),
        ])
        #expect(
            lines == ["/#self 200 no such fragment < /", "/a.html#there 200 no such fragment < / /a.html"])
    }

    @Test func `fragments are compared without percent-encoding and printed with it`() {
        let lines = broken([
            "http://h/": .page(links: ["a.html#x y"]),
            "http://h/a.html": .page(links: [], anchors: ["x z"]),
        ])
        #expect(lines == ["/a.html#x%20y 200 no such fragment < /"])
    }

    @Test func `a range of lines is there when both its ends are`() {
        let lines = broken([
            "http://h/": .page(links: ["a.html#12-34", "a.html#12-35", "a.html#12-x", "a.html#-12"]),
            "http://h/a.html": .page(links: [], anchors: ["12", "34"]),
        ])
        #expect(
            lines == [
                "/a.html#-12 200 no such fragment < /", "/a.html#12-35 200 no such fragment < /",
                "/a.html#12-x 200 no such fragment < /",
            ])
    }

    @Test func `places in files are not known`() {
        let lines = broken(["http://h/": .page(links: ["a.pdf#page=3"]), "http://h/a.pdf": .file])
        #expect(lines == [])
    }

    @Test func `a page that was not read whole is an entry, and its links are checked`() {
        let lines = broken([
            "http://h/": .page(links: ["long.html#end", "long.html"]),
            "http://h/long.html": .page(links: ["gone.html"], unread: "not read whole: cut short"),
        ])
        #expect(lines == ["/gone.html 404 < /long.html", "/long.html 200 not read whole: cut short < /"])
    }

    @Test func `a start that is no page is broken, and so is what it redirects to`() {
        #expect(broken(["http://h/": .file]) == ["/ 200 no page"])
        #expect(broken(["http://h/": .redirect("http://h/a.pdf"), "http://h/a.pdf": .file]) == ["/ 200 no page"])
        let ignoring = CheckSettings.site { $0.ignored = ["/a"] }
        #expect(broken(["http://h/": .redirect("http://h/a")], ignoring) == ["/ 301 redirect to what is ignored"])
        #expect(broken(["http://h/": .page(links: [], unread: "not read: not text")]) == ["/ 200 not read: not text"])
    }

    @Test func `an error without an answer has no status`() {
        let lines = broken(["http://h/": .page(links: ["x"]), "http://h/x": .failure("connection refused")])
        #expect(lines == ["/x connection refused < /"])
    }

    @Test func `a reference that is no URL is reported as it was written`() {
        let report = PaperSite([
            "http://h/": .page(links: ["http://[half#x", "a.html"]),
            "http://h/a.html": .page(links: ["http://[half#x"]),
        ]).report(.site())
        #expect(report.broken.map(\.line) == ["http://[half#x malformed URL < / /a.html"])
        #expect(report.links == 3)
    }

    @Test func `JSON has everything escaped that needs it`() {
        let report = PaperSite(["http://h/": .page(links: ["http://[a\"b\u{7f}ö"])]).report(.site())
        #expect(
            report.json.contains(#"{"url":"http://[a\"b\u007fö","status":null,"error":"malformed URL","referrers":["#))
    }

    @Test func `links out of the site are checked only when that is asked for`() {
        let site: [String: PaperSite.Reply] = ["http://h/": .page(links: ["http://other/x", "http://other/y"])]
        #expect(broken(site) == [])
        let lines = broken(site, .site { $0.checksExternal = true })
        #expect(lines == ["http://other/x 404 < /", "http://other/y 404 < /"])
    }

    @Test func `a page out of the site is not read`() {
        let report = PaperSite([
            "http://h/docs/": .page(links: ["/other/", "a.html"]), "http://h/docs/a.html": .page(links: []),
            "http://h/other/": .page(links: ["gone.html"]),
        ]).report(.site("http://h/docs/") { $0.checksExternal = true })
        #expect(report.broken == [])
        #expect(report.pages == 2)
    }

    @Test func `what is ignored is counted and not fetched`() {
        let site = PaperSite(["http://h/": .page(links: ["old/a", "old/b", "x/gone.html", "y.pdf", "z"])])
        let report = site.report(.site { $0.ignored = ["/old/", "http://h/*.pdf", "*gone*"] })
        #expect(report.broken.map(\.line) == ["/z 404 < /"])
        #expect(report.links == 5)
    }

    @Test func `a link counts once for each page and each fragment`() {
        let report = PaperSite([
            "http://h/": .page(links: ["a.html", "a.html", "a.html#x", "http://h/a.html#x", "#y", "http://other/"]),
            "http://h/a.html": .page(links: ["/"], anchors: ["x"]),
        ]).report(.site())
        #expect(report.pages == 2)
        #expect(report.links == 5)
    }

    @Test func `a site that does not answer is broken itself`() {
        #expect(broken(["http://h/": .failure("host not found")]) == ["/ host not found"])
    }
}

@Suite struct `link check redirects` {
    private func report(
        _ replies: [String: PaperSite.Reply], _ settings: CheckSettings = .site()
    ) -> LinkReport { PaperSite(replies).report(settings) }

    @Test func `every step is reported and the page at the end is read once`() {
        let report = report([
            "http://h/": .page(links: ["old", "new.html"]),
            "http://h/old": .redirect("http://h/older"), "http://h/older": .redirect("http://h/new.html", status: 302),
            "http://h/new.html": .page(links: ["/"]),
        ])
        #expect(report.redirects.map(\.line) == ["/old 301 > /older < /", "/older 302 > /new.html"])
        #expect(report.broken == [])
        #expect(report.pages == 2)
        #expect(report.links == 3)
    }

    @Test func `a fragment is looked for at the end unless the redirect names one`() {
        let report = report([
            "http://h/": .page(links: ["old#a", "old#b", "fixed#b"]),
            "http://h/old": .redirect("http://h/new.html"), "http://h/fixed": .redirect("http://h/new.html#a"),
            "http://h/new.html": .page(links: [], anchors: ["a"]),
        ])
        #expect(report.broken.map(\.line) == ["/old#b 200 no such fragment < /"])
    }

    @Test func `a link to a redirect is as broken as its end`() {
        let report = report([
            "http://h/": .page(links: ["old", "x#f"]), "http://h/old": .redirect("http://h/gone.html"),
            "http://h/x": .redirect("http://h/y"), "http://h/y": .failure("timed out"),
        ])
        #expect(report.broken.map(\.line) == ["/old 404 < /", "/x timed out < /"])
    }

    @Test func `a loop and a chain without an end are errors`() {
        var site: [String: PaperSite.Reply] = [
            "http://h/": .page(links: ["a", "self", "0", "5"]),
            "http://h/a": .redirect("http://h/b"), "http://h/b": .redirect("http://h/a"),
            "http://h/self": .redirect("http://h/self"),
        ]
        for step in 0..<15 { site["http://h/\(step)"] = .redirect("http://h/\(step + 1)") }
        site["http://h/15"] = .file
        let report = report(site)
        #expect(
            report.broken.map(\.line) == [
                "/0 301 too many redirects < /", "/a 301 redirect loop < /", "/self 301 redirect loop < /",
            ])
        // The tenth step from 5, which is the fifteenth from 0, is still followed.
        #expect(report.redirects.contains { $0.url == "/14" })
    }

    @Test func `a redirect out of the site ends there`() {
        let site: [String: PaperSite.Reply] = [
            "http://h/": .page(links: ["out#x"]), "http://h/out": .redirect("http://other/page"),
        ]
        let inside = report(site)
        #expect(inside.broken == [])
        #expect(inside.redirects.map(\.line) == ["/out 301 > http://other/page < /"])
        #expect(report(site, .site { $0.checksExternal = true }).broken.map(\.line) == ["/out 404 < /"])
    }

    @Test func `a redirect without a place to go is broken`() {
        let report = report(["http://h/": .page(links: ["x"]), "http://h/x": .status(302)])
        #expect(report.broken.map(\.line) == ["/x 302 redirect to nowhere < /"])
    }

    @Test func `the scope is where the start redirects to`() {
        let report = report(
            [
                "http://h/docs": .redirect("https://www.h/docs"),
                "https://www.h/docs": .redirect("https://www.h/docs/"),
                "https://www.h/docs/": .page(links: ["a.html", "../x"]),
                "https://www.h/docs/a.html": .page(links: ["b.html"]),
            ], .site("http://h/docs"))
        #expect(report.pages == 2)
        #expect(report.broken.map(\.line) == ["/b.html 404 < /a.html"])
        #expect(
            report.redirects.map(\.line) == [
                "http://h/docs 301 > https://www.h/docs", "https://www.h/docs 301 > /",
            ])
    }

    @Test func `a start that redirects within its scope keeps it`() {
        let report = report([
            "http://h/": .redirect("http://h/en/"), "http://h/en/": .page(links: ["/fr/"]),
            "http://h/fr/": .page(links: []),
        ])
        #expect(report.pages == 2)
    }
}
