import LoopExamples
import LoopTesting
import Testing

struct Unreachable: Error {}

@Test func `a page that is missing makes the check fail, a server that is away for a moment does not`() throws {
    var settings = CheckSettings()
    settings.site = "http://docs.test/index.html"
    try TestLoop.run(LinkCheck(settings: settings), mode: .withoutStates) { loop in
        // The state asks for the start, and then for what the start links to.
        let start = try loop.expectStart("fetch") { (job: FetchJob) in job.url == settings.site }
        let page = LinkCheck.PageContent(links: "/a.html\n/b.html\n")
        try start.complete(sending: .fetched(target: 0, answer: .init(status: 200, page: page)))
        let a = try loop.expectStart("fetch") { (job: FetchJob) in job.url == "http://docs.test/a.html" }
        let b = try loop.expectStart("fetch") { (job: FetchJob) in job.url == "http://docs.test/b.html" }
        try a.complete(sending: .failed(target: 1, status: 404, error: nil))
        #expect(loop.state.brokenLinksCount == 1 && loop.state.doneCount == 2)
        // A failure is the policy's matter: the state knows nothing of it, and after a while it is tried again.
        try b.fail(Unreachable())
        try loop.advance()
        try loop.expectStart(b)
        try b.complete(sending: .fetched(target: 2, answer: .init(status: 200)))
        #expect(try loop.expectOutcome().exitCode == 1)
    }
}
