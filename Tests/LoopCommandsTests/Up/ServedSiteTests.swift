import LoopNode
import TestFolders
import Testing

@testable import LoopCommands

@Suite struct `The site that up serves` {
    @Test func `is a folder, or the folder of a page at which the loop begins`() throws {
        let folder = TestFolder()
        folder.write("a b.html", "")
        let site = try ServedSite(folder.path)
        defer { site.stop() }
        #expect(site.url == "http://127.0.0.1:\(ServedSite.port(of: folder.path))/")
        #expect(site.line == "serving \(folder.path) at \(site.url)")
        let page = try ServedSite(folder.path + "/a b.html")
        defer { page.stop() }
        #expect(page.url.hasSuffix("/a%20b.html"))
        #expect(page.line.hasPrefix("serving \(folder.path) at "))
    }

    @Test func `is at the folder's own port while that is free, however the folder is written`() throws {
        #expect(ServedSite.port(of: "/etc") == ServedSite.port(of: "/etc/../etc/."))
        let ports = ["/", "/etc", "/usr", "/usr/bin", "/no/such"].map(ServedSite.port)
        #expect(Set(ports).count == ports.count)
        #expect(ports.allSatisfy(ServedSite.ports.contains))
        let folder = TestFolder()
        let first = try ServedSite(folder.path)
        let second = try ServedSite(folder.path)
        #expect(second.url != first.url)
        first.stop()
        second.stop()
        let third = try ServedSite(folder.path)
        #expect(third.url == first.url)
        third.stop()
    }

    @Test func `exists`() throws {
        let error = #expect(throws: UsageError.self) { try ServedSite("/no/such/folder") }
        #expect(error?.message == "--serve cannot be '/no/such/folder': nothing of that name is here")
    }
}
