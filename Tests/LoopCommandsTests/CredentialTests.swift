import LoopCollections
import LoopNode
import Testing

/// What a person gives as an address may hold a password, also where an address is a mistake.
@Suite(.timeLimit(.minutes(5))) struct `A password on a command line` {
    private static let password = "Tr0ub4dor"
    private static let database = "postgres://ada:\(password)@127.0.0.1:1/loops?sslpassword=\(password)"

    private static let lines =
        [
            "loop-reducer counter", "loop-reducer counter --log json", "loop-reducer counter verify",
            "loop-reducer counter history", "loop-reducer counter state --json",
            "loop-reducer counter trim --after 3", "loopctl journal init", "loopctl journal copy nothing.journal",
        ].map { line in
            let isPlace = !line.hasPrefix("loop-reducer counter --") && line != "loop-reducer counter"
            return "\(line) \(isPlace ? "" : "--journal ")'\(database)'"
        }
        + [
            "loop-reducer counter --journal 'postgres://ada:\(password)@[h'",
            "loop-reducer counter --journal 'mysql://ada:\(password)@h/d'",
            "loop-reducer counter --journal 'postgres:ada:\(password)@h'",
            "loop-reducer counter --journal 'host=h password=\(password)'",
            "loop-reducer counter --bind 'tcp://ada:\(password)@h:1'",
            "loop-reducer linkcheck 'http://ada:\(password)@h/'", "loop-reducer linkcheck 'http:ada:\(password)@h'",
            "loop-reducer linkcheck '//ada:\(password)@h/'", "loop-reducer linkcheck 'ada:\(password)@h/x'",
            "loopctl status --reducer 'tcp://ada:\(password)@h:1'", "loopctl status --reducer 'ada:\(password)@h'",
            "loopctl up linkcheck 'http://ada:\(password)@h/'", "loopctl up counter --journal '\(database)'",
            "loopctl send --file 'http://ada:\(password)@h'", "loopctl serve --bind 'ada:\(password)@h' .",
        ]

    @Test(arguments: lines) func `is in nothing that the program writes`(line: String) async throws {
        let written = Locked<[String]>([])
        // The folder of this bundle has the programs.
        let folder = CommandLine.arguments[0].split(separator: "/", omittingEmptySubsequences: false).dropLast()
        let program = "timeout 60 \(folder.joined(separator: "/"))/\(line)"
        let child = try ChildProcess(
            .init("/bin/sh", ["-c", program], output: .lines { _, text in written.withLock { $0.append(text) } }))
        let exit = await child.wait()
        #expect([.exited(2), .exited(64)].contains(exit), "\(written.withLock { $0 })")
        let lines = written.withLock { $0 }
        #expect(!lines.isEmpty && !lines.contains { $0.contains(Self.password) }, "\(lines)")
    }
}
