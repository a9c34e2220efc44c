import Glibc
import LoopNode
import TestFolders
import Testing

@testable import LoopCommands

@Suite struct `The site that up serves for linkcheck` {
    private func site(_ words: [String], _ environment: [String: String] = [:]) -> LocalSite? {
        LocalSite(in: words, environment: environment) { path in
            switch path {
            case "docs", ".", "/srv/my site", "--odd": .folder
            case "README.md", "docs/a b.html", "/index.html", "notes.txt": .file
            default: .nothing
            }
        }
    }

    @Test func `is a folder, wherever it stands`() {
        #expect(site(["docs"])?.folder == "docs")
        #expect(site(["--external", "docs"])?.index == 1)
        #expect(site(["docs", "--timeout", "5s"])?.index == 0)
        #expect(site(["--", "--odd"])?.folder == "--odd")
        #expect(site(["docs"])?.start == "")
    }

    @Test func `is rather a word of its own than one that may be an option's value`() {
        #expect(site([".", "--user-agent", "docs"])?.folder == ".")
        #expect(site(["--user-agent=docs", "."])?.folder == ".")
    }

    @Test func `is the folder of a page, and the check begins at the page`() {
        let page = site(["docs/a b.html"])
        #expect(page?.folder == "docs")
        #expect(page?.start == "a%20b.html")
        #expect(site(["README.md"])?.folder == ".")
        #expect(site(["/index.html"])?.folder == "/")
    }

    @Test func `is none where a URL is checked, or nothing that exists`() {
        #expect(site(["http://docs/"]) == nil)
        #expect(site(["--ignore", "docs", "HTTPS://example.org"]) == nil)
        #expect(site(["nowhere"]) == nil)
        #expect(site(["notes.txt"]) == nil)
        #expect(site([]) == nil)
    }

    @Test func `comes from its variable where no argument names it`() {
        #expect(site([], ["LOOP_SITE": "docs"])?.folder == "docs")
        #expect(site(["."], ["LOOP_SITE": "docs"])?.folder == ".")
        #expect(site([], ["LOOP_SITE": "http://x/"]) == nil)
    }

    @Test func `becomes a URL among the arguments, and reports are relative to it`() {
        let url = "http://127.0.0.1:80/"
        let words = ["--external", "docs", "--timeout", "5s"]
        #expect(
            site(words)?.arguments(words, url: url) == ["--relative", "--external", url, "--timeout", "5s"])
        #expect(site(["docs", "--relative"])?.arguments(["docs", "--relative"], url: url) == [url, "--relative"])
        #expect(site(["--", "docs"])?.arguments(["--", "docs"], url: url) == ["--relative", "--", url])
        #expect(site([], ["LOOP_SITE": "docs"])?.arguments([], url: url) == ["--relative", url])
    }

    @Test func `is asked for where a word is neither a URL nor there`() throws {
        func misnamed(_ words: [String]) -> String? {
            LocalSite.misnamed(in: words) { $0 == "docs" ? .folder : .nothing }
        }
        #expect(misnamed(["nowhere"]) == "nowhere")
        #expect(misnamed(["--timeout=5s", "dosc"]) == "dosc")
        #expect(misnamed(["docs"]) == nil)
        #expect(misnamed(["http://x/"]) == nil)
        // It may be the option's value, so the reducer says what is wrong.
        #expect(misnamed(["--external", "nowhere"]) == nil)

        var request = try upRequest(["up", "linkcheck", "/no/such/folder"])
        #expect(throws: UsageError.self) { try Preparation.prepare(&request, environment: [:]) }
    }

    @Test func `is served at the folder's own port, however the folder is written`() throws {
        #expect(SitePort.port(of: "/etc") == SitePort.port(of: "/etc/../etc/."))
        let ports = ["/", "/etc", "/usr", "/usr/bin", "/no/such"].map(SitePort.port)
        #expect(Set(ports).count == ports.count)
        #expect(ports.allSatisfy(SitePort.range.contains))
        let folder = TestFolder()
        func url() throws -> (String?, Preparation.Prepared) {
            var request = try upRequest(["up", "linkcheck", folder.path])
            let prepared = try #require(try Preparation.prepare(&request, environment: [:]))
            return (request.loopArguments.last, prepared)
        }
        let (first, site) = try url()
        let (second, other) = try url()
        #expect(first == "http://127.0.0.1:\(SitePort.port(of: folder.path))/")
        #expect(second != first)
        site.stop()
        other.stop()
        let (third, again) = try url()
        #expect(third == first)
        again.stop()
    }

    @Test func `is prepared for linkcheck alone`() throws {
        var other = try upRequest(["up", "other", "/"])
        #expect(try Preparation.prepare(&other, environment: [:]) == nil)
        #expect(other.loopArguments == ["/"])

        var check = try upRequest(["up", "linkcheck", "/etc"])
        let prepared = try #require(try Preparation.prepare(&check, environment: [:]))
        #expect(check.loopArguments.first == "--relative")
        #expect(check.loopArguments.last?.hasPrefix("http://127.0.0.1:") == true)
        prepared.stop()
    }
}
