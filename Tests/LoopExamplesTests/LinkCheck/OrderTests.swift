import CBOR
import LoopCore
import Testing

@testable import LoopExamples

@Suite struct `link check order` {
    /// A site of 60 pages with every kind of trouble, drawn from a seed.
    private func tangledSite(_ seed: UInt64) -> PaperSite {
        var random = SeededRandom(seed: seed)
        var replies: [String: PaperSite.Reply] = [:]
        let names = (0..<60).map { "p\($0).html" } + (0..<12).map { "r\($0)" } + ["gone", "cut.html", "f.png", "down"]
        func link() -> String {
            let name = names.randomElement(using: &random) ?? ""
            switch Int.random(in: 0..<8, using: &random) {
            case 0: return "http://other/\(name)"
            case 1, 2: return "\(name)#a\(Int.random(in: 0..<6, using: &random))"
            case 3: return "http://[\(name)"
            default: return name
            }
        }
        func links() -> [String] { (0..<Int.random(in: 0..<8, using: &random)).map { _ in link() } }
        for page in 0..<60 {
            let anchors = Set((0..<3).map { _ in "a\(Int.random(in: 0..<6, using: &random))" })
            replies["http://h/p\(page).html"] = .page(links: links() + ["p\(page / 2 + 17).html"], anchors: anchors)
        }
        for redirect in 0..<12 {
            let target = redirect % 3 == 0 ? "http://other/x" : "http://h/\(names.randomElement(using: &random) ?? "")"
            replies["http://h/r\(redirect)"] = .redirect(redirect % 4 == 1 ? target + "#a1" : target)
        }
        for step in 0..<14 { replies["http://h/long\(step)"] = .redirect("http://h/long\(step + 1)") }
        replies["http://h/"] = .page(
            links: ["p0.html", "p1.html", "r0", "r1", "long0", "long3", "long4#a1", "r5#a2", "r7#a3"])
        replies["http://h/long14"] = .page(links: ["p3.html#a9"])
        replies["http://h/cut.html"] = .page(links: links(), unread: "not read whole")
        replies["http://h/f.png"] = .file
        replies["http://h/down"] = .failure("timed out")
        replies["http://other/p3.html"] = .status(500)
        var site = PaperSite(replies)
        site.partBytesMax = 60
        return site
    }

    @Test(arguments: 0..<3)
    func `the report is the same in whatever order answers come, and however often`(seed: UInt64) {
        let site = tangledSite(seed)
        for change in Self.variants {
            let settings = CheckSettings.site("http://h/", change)
            let expected = site.report(settings)
            #expect(expected.pages > 3)
            for order in 1...4 as ClosedRange<UInt64> {
                let report = site.report(settings, seed: order, doubling: order % 2 == 0 ? 0.4 : 0)
                #expect(report == expected, "seed \(seed), order \(order)")
            }
        }
    }

    private static let variants: [@Sendable (inout CheckSettings) -> Void] = [
        { _ in }, { $0.checksExternal = true }, { $0.pagesMax = 4 }, { $0.pagesMax = 7 },
        {
            $0.pagesMax = 7
            $0.checksExternal = true
        }, { $0.ignored = ["/p1", "*other/p2*"] },
    ]

    @Test func `a state that was stored goes on as if it had not been`() throws {
        let site = tangledSite(3)
        for change in Self.variants.suffix(4) {
            let settings = CheckSettings.site("http://h/", change)
            let definition = LinkCheck(settings: settings)
            var state = definition.initial
            var random = SeededRandom(seed: 9)
            while let job = state.requests.values.randomElement(using: &random) {
                for event in site.events(for: job) {
                    state.apply(event, at: nil)
                    let bytes = try CBOR.encode(state)
                    let copy = try CBOR.decode(LinkCheckState.self, from: bytes)
                    let isSame = try copy.requests == state.requests && CBOR.encode(copy) == bytes
                    try #require(isSame, "after \(state.doneCount) targets")
                    if random.fraction() < 0.3 { state = copy }
                }
            }
            var report = LinkReport(state)
            report.seconds = 0
            #expect(report == site.report(settings))
        }
    }

    @Test func `no more pages are read than are wanted, and their links are checked`() {
        let site = tangledSite(1)
        let state = site.check(.site { $0.pagesMax = 5 }, seed: 4)
        #expect(state.pagesCount == 5)
        #expect(state.isFinished)
    }
}

@Suite struct `link check requests` {
    private func definition(pages: Int, pagesMax: Int? = nil) -> (LinkCheck, LinkCheckState) {
        let definition = LinkCheck(settings: .site { $0.pagesMax = pagesMax })
        var state = definition.initial
        let links = (0..<pages).map { "/p\($0).html\n" }.joined()
        state.apply(.fetched(target: 0, answer: .init(status: 200, page: .init(links: links))), at: nil)
        return (definition, state)
    }

    @Test func `all that is found and has no answer is asked for, in the order in which it was found`() {
        var (definition, state) = definition(pages: 1000)
        #expect(Array(state.requests.keys) == Array(1...1000))
        state.apply(.fetched(target: 2, answer: .init(status: 404)), at: nil)
        #expect(Array(state.requests.keys) == [1] + Array(3...1000))
        #expect(definition.progress(of: state)?.done == 2)
        #expect(definition.progress(of: state)?.found == 1001)
        #expect(definition.outcome(of: state) == nil)
    }

    @Test func `not many are asked for ahead of an answer where order counts`() {
        var (_, state) = definition(pages: 1000, pagesMax: 100)
        #expect(Array(state.requests.keys) == Array(1...256))
        state.apply(.fetched(target: 2, answer: .init(status: 404)), at: nil)
        #expect(Array(state.requests.keys) == [1] + Array(3...256))
        #expect(state.doneCount == 1)
        state.apply(.fetched(target: 1, answer: .init(status: 404)), at: nil)
        #expect(Array(state.requests.keys) == Array(3...258))
        #expect(state.doneCount == 3)
    }

    @Test func `where no pages are wanted any more, all that is left is asked whether it is there`() {
        let (_, state) = definition(pages: 1000, pagesMax: 1)
        #expect(Array(state.requests.keys) == Array(1...1000))
        #expect(state.requests.values.allSatisfy { !$0.isPageWanted })
    }

    @Test func `a job says everything that a worker has to know`() throws {
        let settings = CheckSettings.site("http://u:p@h:8080/docs/index.html") {
            $0.limits.retries = 1
            $0.limits.userAgent = "me"
        }
        let job = try #require(LinkCheck(settings: settings).initial.requests[0])
        #expect(job.url == "http://u:p@h:8080/docs/index.html")
        #expect(job.base == "http://u:p@h:8080/docs")
        #expect(job.host == "h:8080")
        #expect(job.isPageWanted)
        #expect(job.limits == settings.limits)
    }

    @Test func `events about nothing that is asked for change nothing`() throws {
        var (_, state) = definition(pages: 2)
        let before = try CBOR.encode(state)
        state.apply(.fetched(target: 99, answer: .init(status: 200)), at: nil)
        state.apply(.failed(target: 0, status: 500, error: nil), at: nil)
        state.apply(.part(target: .max, number: 0, content: .init()), at: nil)
        state.apply(.part(target: 1, number: 7, content: .init(links: "/x\n")), at: nil)
        #expect(try CBOR.encode(state) == before)
    }

    @Test func `content that no worker would send is taken as far as it makes sense`() {
        var (definition, state) = definition(pages: 3)
        let page = LinkCheck.PageContent(links: "\n\n#\n##x\n/\n/p2.html###\n!\n?#\u{0}\n", anchors: [1, 2, 3])
        state.apply(.fetched(target: 1, answer: .init(status: 200, page: page)), at: nil)
        state.apply(.fetched(target: 2, answer: .init(status: -5, location: "\n#\n")), at: nil)
        state.apply(.fetched(target: 3, answer: .init(status: 1 << 40)), at: nil)
        #expect(definition.outcome(of: state) != nil)
    }
}
