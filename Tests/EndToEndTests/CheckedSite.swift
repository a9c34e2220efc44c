import LoopApp
import LoopCollections
import LoopNode
import LoopWire
import TestFolders

/// A site with a number of pages and known faults. A test that acts in the middle of a check holds the site's answers there.
final class CheckedSite: Sendable {
    let server: ScriptedSite
    private let folder = TestFolder()

    init(pages: Int) throws {
        for page in 0..<pages {
            var links = ""
            for step in 1...8 { links += "<a href=\"p\((page * 3 + step * 7) % pages).html#s\(step)\">x</a>\n" }
            if page % 10 == 0 { links += "<a href=\"missing\(page).html\">gone</a>" }
            if page % 15 == 0 { links += "<a href=\"p1.html#nowhere\">no such place</a>" }
            let anchors = (1...8).map { "<h2 id=\"s\($0)\">\($0)</h2>" }.joined()
            folder.write(
                "p\(page).html", "<html><body>\(links)<a href=\"p\(page + 1).html\">next</a>\(anchors)</body></html>")
        }
        server = try ScriptedSite(folder: folder.path)
    }

    var url: String { "http://127.0.0.1:\(server.port)/p0.html" }

    /// Waits until a request has come that ``ScriptedSite/hold(after:)`` keeps without an answer.
    func untilHeld() async throws {
        while !server.isHolding { try await Task.sleep(for: .milliseconds(5)) }
    }
}

/// A reducer and workers as processes of this machine, over TCP.
final class ProcessCluster: Sendable {
    let address = freeAddress()
    private let reducers = Locked<[ChildProcess]>([])
    private let command: [String]
    let folder = TestFolder()
    private let lines = Locked<[String]>([])
    private let workers = Locked<[ChildProcess]>([])

    init(site: String, silenceLimit: String = "1s", arguments: [String] = []) throws {
        command =
            [
                "linkcheck", "--bind", address.description, "--silence-limit", silenceLimit, "--json",
                "\(folder.path)/report.json", "--journal", "\(folder.path)/check.journal", "--relative", site,
            ] + arguments
        try startReducer()
    }

    /// The newest one.
    var reducer: ChildProcess { reducers.withLock { $0[$0.count - 1] } }

    /// What reducers have said to people.
    var said: [String] { lines.withLock { $0 } }

    /// Starts the reducer, or starts it again by the same command.
    func startReducer() throws {
        let lines = lines
        let reducer = try ChildProcess(
            .init(
                Executables.path("loop-reducer"), command,
                output: .lines { _, line in lines.withLock { $0.append(line) } }))
        reducers.withLock { $0.append(reducer) }
    }

    @discardableResult
    func startWorker(_ name: String, capacity: Int = 4) throws -> ChildProcess {
        let worker = try ChildProcess(
            .init(
                Executables.path("loop-effect"),
                ["linkcheck", "--reducer", address.description, "--capacity", "\(capacity)", "--name", name],
                output: .discarded))
        workers.withLock { $0.append(worker) }
        return worker
    }

    /// The reducer ended before what was waited for.
    struct EndedEarly: Error {
        let exit: ProcessExit
        let last: StatusReport?
    }

    /// Asks for the status until it is as wanted.
    func status(where isWanted: (StatusReport) -> Bool) async throws -> StatusReport {
        var last: StatusReport?
        while true {
            if let exit = reducer.status { throw EndedEarly(exit: exit, last: last) }
            let address = address
            last = (try? await NodeThread.run("probe") { try StatusProbe.ask(address) }) ?? last
            if let last, isWanted(last) { return last }
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    /// The reducer's exit and its report, without what differs from run to run.
    func report() async throws -> (exit: ProcessExit, json: String) {
        let exit = await reducer.wait()
        for worker in workers.withLock({ $0 }) { worker.kill() }
        let json = contents(of: "\(folder.path)/report.json") ?? lines.withLock { $0.joined(separator: "\n") }
        return (exit, withoutSeconds(json))
    }

    private func withoutSeconds(_ json: String) -> String {
        guard let start = json.firstRange(of: "\"seconds\":") else { return json }
        let rest = json[start.upperBound...].drop { $0.isNumber || $0 == "." || $0 == " " || $0 == "e" || $0 == "-" }
        return String(json[..<start.lowerBound] + rest)
    }
}

extension String {
    fileprivate func firstRange(of text: String) -> Range<Index>? {
        var index = startIndex
        while index < endIndex {
            if self[index...].hasPrefix(text) { return index..<self.index(index, offsetBy: text.count) }
            index = self.index(after: index)
        }
        return nil
    }
}
