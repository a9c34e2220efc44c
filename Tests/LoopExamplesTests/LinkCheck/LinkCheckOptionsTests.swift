import LoopNode
import Testing

@testable import LoopCore
@testable import LoopExamples

@Suite struct `link check command line` {
    private func misuse(_ arguments: [String]) -> String? {
        do throws(UsageError) {
            _ = try LinkCheck(arguments: arguments)
            return nil
        } catch {
            return error.description
        }
    }

    @Test func `every option reaches its place`() throws {
        let check = try LinkCheck(arguments: [
            "HTTP://Example.com:80/a/../docs/#x", "--external", "--relative", "--ignore=/old", "--ignore", "*.pdf",
            "--max-pages=9", "--timeout=1.5s", "--retries=2", "--body-limit=1MiB", "--host-concurrency=3",
            "--host-rate=0.5", "--user-agent=me",
        ])
        #expect(check.settings.site == "http://example.com/docs/")
        #expect(check.settings.checksExternal)
        #expect(check.settings.isRelative)
        #expect(check.settings.ignored == ["/old", "*.pdf"])
        #expect(check.settings.pagesMax == 9)
        #expect(check.settings.limits.timeoutMilliseconds == 1500)
        #expect(check.settings.limits.retries == 2)
        #expect(check.settings.limits.bodyBytesMax == 1 << 20)
        #expect(check.settings.limits.userAgent == "me")
        #expect(check.hostConcurrency == 3)
        #expect(check.hostRate == 0.5)
    }

    @Test func `the environment stands in for what is not given`() throws {
        let check = try LinkCheck(arguments: ["http://h/"], environment: ["LOOP_MAX_PAGES": "5", "LOOP_EXTERNAL": "1"])
        #expect(check.settings.pagesMax == 5)
        #expect(check.settings.checksExternal)
    }

    @Test func `strangers are asked less at a time than this machine`() throws {
        #expect(try LinkCheck(arguments: ["http://127.0.0.1:80/"]).hostConcurrency == 64)
        #expect(try LinkCheck(arguments: ["http://localhost/", "--external"]).hostConcurrency == 8)
        #expect(try LinkCheck(arguments: ["http://example.com/"]).hostConcurrency == 8)
    }

    @Test func `what cannot be meant is said in one line`() {
        #expect(misuse([]) == "SITE is missing; it is the http or https URL to begin at; its folder is checked")
        #expect(
            misuse(["docs"])
                == "SITE cannot be 'docs': it takes an http or https URL; for a folder: loopctl up linkcheck --serve FOLDER"
        )
        #expect(misuse(["http://h/", "--retrie=1"]) == "unknown option --retrie; did you mean --retries?")
        #expect(
            misuse(["http://h/", "--retries=21"]) == "--retries cannot be '21': it takes a whole number from 0 to 20")
        #expect(misuse(["--help"]) != nil)
    }

    @Test func `a worker's definition has the feedbacks of the reducer's`() throws {
        let reducer = try LinkCheck(arguments: ["http://h/", "--host-rate=3"])
        let shape = { (check: LinkCheck) in check.feedbacks.map { "\($0.name) \($0.placement) \($0.policy.retry)" } }
        #expect(shape(reducer) == shape(LinkCheck()))
        #expect(LinkCheck().initial.requests.isEmpty)
        #expect(LinkCheck().outcome(of: LinkCheck().initial) == nil)
    }

    @Test func `the link checker is among the loops that are brought along`() {
        #expect(Examples.all.map(\.name).contains(LinkCheck.name))
    }
}

@Suite struct `link check failures` {
    @Test func `what may be better later is tried again, within reason`() {
        #expect(FetchFailure(status: 404, retryAfterSeconds: nil) == nil)
        #expect(FetchFailure(status: 200, retryAfterSeconds: nil) == nil)
        for status in [408, 429, 500, 503, 599] {
            #expect(FetchFailure(status: status, retryAfterSeconds: nil)?.isTransient == true)
        }
        let patient = FetchFailure(status: 429, retryAfterSeconds: 20)
        #expect(patient?.retryAfter == .seconds(20))
        #expect(patient?.isTransient == true)
        #expect(FetchFailure(status: 503, retryAfterSeconds: 86_400)?.isTransient == false)
    }

    @Test func `an answer with an error is logged as its status`() {
        #expect(FetchFailure(status: 429, retryAfterSeconds: nil)?.description == "status 429")
    }
}
