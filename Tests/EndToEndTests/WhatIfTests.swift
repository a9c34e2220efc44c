import CBOR
import Foundation
import LoopCluster
import LoopCore
import LoopJournal
import LoopNode
import LoopWire
import NewLoop
import TestFolders
import Testing
import ZMQ

@testable import LoopCommands

@Suite(.timeLimit(.minutes(5))) struct `What a loop's own program says of events that have not happened` {
    private let folder = TestFolder()

    /// `ExportedTest.swift` is compiled with these tests and runs as one of them. If the export has changed on purpose, replace it by
    /// the text that this test prints.
    @Test func `is also a test that compiles and passes`() async throws {
        let path = "\(folder.path)/journal"
        let journal = try SQLiteJournal.open(path, loop: NewLoop.name, newHistory: History(7))
        let definition = JournaledState(definition: NewLoop(), coder: CBORCoder(), history: History(7)).ownDefinition
        _ = try journal.append([.definition(definition)], through: 1)
        let orders = [
            Order(number: "1", customer: "Ada", cents: 2500), Order(number: "2", customer: "Bob \"#1", cents: 1),
        ]
        for (index, order) in orders.enumerated() {
            let event = EventRecord(
                seq: Seq(UInt64(index + 1)), time: WallTime(milliseconds: 1000), session: .none, number: 0, effect: nil,
                attempt: .none, wantsSeq: false, bytes: try CBOR.encode(NewLoop.Event.place(order))[...])
            _ = try journal.append([.event(event)], through: UInt64(index + 2))
        }
        journal.close()
        let events = [#"{"cancel":{"number":"1"}}"#, #"{"charged":{"number":"2"}}"#]
        let text = try await Program.run(
            Executables.path("newloop-reducer"), ["what-if", "--test", path] + events)
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "ExportedTest.swift")
        #expect(try String(contentsOf: file, encoding: .utf8) == text + "\n", "\(text)")
    }

    @Test func `comes from the journal of a running reducer, which goes on`() async throws {
        let ledger = try await LedgerProcess(keys: false)
        _ = try await ledger.send(#"{"hold":{"count":1}}"#)
        let program = LoopProgram(
            path: Executables.path("loop-reducer"), journal: "\(ledger.folder.path)/journal")
        let asker = ConsoleAsker(
            reducer: ledger.address, limit: .seconds(20), replayLimit: .seconds(60), context: try ZMQContext(),
            program: program)
        let answer = await asker.answer(.whatIf(WhatIfQuestion(after: 1, events: [#"{"hold":{"count":2}}"#])))
        guard case .whatIf(let lines) = answer else {
            Issue.record("\(answer)")
            return
        }
        #expect(lines.first == #"seq 2  {"hold":{"count":2}}"#, "\(lines)")
        #expect(lines.contains { $0.hasPrefix("  started ") && $0.contains(" of hold: ") }, "\(lines)")
        #expect(try await ledger.status().seq == 1)
    }
}
