import Foundation
import LoopCluster
import LoopCore
import LoopJournal
import LoopWire
import TestFolders
import Testing

@testable import LoopCommands

@Suite struct `The doctor of a file` {
    private let folder = TestFolder()
    private var path: String { folder.path + "/jobs.journal" }

    /// The first finding, and how grave the gravest is.
    private var found: (text: String, hasFailed: Bool) {
        let findings = JournalFileLook.findings(of: path)
        return (findings[0].text, findings.contains { $0.level == .failure })
    }

    private func writeJournal() throws {
        let journal = try SQLiteJournal.open(path, loop: "jobs", newHistory: History(7))
        for seq in 1...3 as ClosedRange<UInt64> {
            let event = EventRecord(
                seq: Seq(seq), time: WallTime(milliseconds: 1), session: SessionID(1), number: seq, effect: nil,
                attempt: .none, wantsSeq: false, bytes: Array("needle \(seq)".utf8)[...])
            _ = try journal.append([.event(event)], through: seq)
        }
        journal.close()
    }

    @Test func `says where there is none`() {
        #expect(
            found == (
                "warning  \(path): there is no file; check the path, or start a reducer, which makes one", false
            ))
    }

    @Test(arguments: ["", "no journal, but a text\n"]) func `says that it is no journal`(text: String) {
        folder.write("jobs.journal", text)
        #expect(found.hasFailed && found.text.contains("\(path) is "), "\(found)")
    }

    @Test func `names the loop and the newest seq, and what was not looked at`() throws {
        try writeJournal()
        #expect(
            found == (
                "fine     \(path): the journal of jobs up to seq 3; older records than the newest snapshot were not "
                    + "read, and no event was replayed; to do both: loop-reducer jobs verify \(path)", false
            ))
    }

    @Test func `finds a damaged record that a start would need`() throws {
        try writeJournal()
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        let place = try #require(bytes.range(of: Data("needle 2".utf8)))
        bytes[place.lowerBound] ^= 1
        try bytes.write(to: URL(fileURLWithPath: path))
        #expect(found.hasFailed && found.text.contains("position 2"), "\(found)")
    }
}
