import LoopExamples
import LoopSimulation
import Testing

private let site = ["/": "/a.html\n/b.html\n", "/a.html": "/b.html\n/gone.html\n", "/b.html": "/\n/a.html\n"]

@Test(arguments: 0..<20 as Range<UInt64>) func `the report is the same whatever fails`(seed: UInt64) throws {
    let check = try LinkCheck(arguments: ["http://docs.test/"])
    let cluster = SimulatedCluster(check, seed: seed, faults: .all)
    cluster.answer("fetch") { (job: FetchJob, effect: inout SimulatedEffect<LinkCheck.Event>) in
        effect.pause(upTo: .seconds(5))
        let page = site[String(job.url.dropFirst("http://docs.test".count))].map { LinkCheck.PageContent(links: $0) }
        effect.send(.fetched(target: job.target, answer: .init(status: page == nil ? 404 : 200, page: page)))
    }
    let report = "broken  http://docs.test/gone.html  404\n        on http://docs.test/a.html\n\n3 pages, 6 links"
    #expect(try cluster.run().outcome?.text.hasPrefix(report) == true)
}
