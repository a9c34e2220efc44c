import Foundation
import LoopCore
import LoopTesting
import Testing

@Suite struct `Asking` {
    @Test func `the definition on the page is the one that is compiled`() throws {
        let root = URL(filePath: #filePath).appending(path: "../../../..").standardized
        let page = try String(contentsOf: root.appending(path: "docs/asking.md"), encoding: .utf8)
        let example = try String(
            contentsOf: URL(filePath: #filePath).appending(path: "../AskingExample.swift").standardized, encoding: .utf8
        )
        #expect(page.contains("```swift\n\(example)```"))
    }

    @Test func `a loop in this process answers by the state right after the event`() async throws {
        let loop = Loop(Bank())
        loop.send(.deposit("ann", 100))
        let (receipt, seq) = try await loop.ask(.withdraw("ann", 30, number: 1), for: Bank.Receipt.self)
        #expect(receipt == Bank.Receipt(isPaid: true, balance: 70))
        #expect(seq == Seq(2))
        #expect(
            try await loop.ask(.withdraw("ann", 90, number: 2), for: Bank.Receipt.self).answer
                == Bank.Receipt(isPaid: false, balance: 70))
    }

    @Test func `many that ask a loop at once are each answered for their own event`() async throws {
        let loop = Loop(Bank())
        loop.send(.deposit("ann", 1000))
        try await withThrowingTaskGroup(of: (answer: Bank.Receipt, seq: Seq).self) { group in
            for number in 1...100 {
                group.addTask { try await loop.ask(.withdraw("ann", 1, number: number), for: Bank.Receipt.self) }
            }
            for try await (receipt, seq) in group { #expect(receipt.balance == 1001 - Int(seq.value)) }
        }
    }

    @Test func `a loop says which event it has no answer to, and that it was applied`() async throws {
        let loop = Loop(Bank())
        await #expect(throws: AskError.unanswered(at: Seq(1), .undefined)) {
            try await loop.ask(.deposit("ann", 1), for: Bank.Receipt.self)
        }
        #expect(loop.state.balances == ["ann": 1])
        let error = await #expect(throws: AskError.self) {
            try await loop.ask(.withdraw("ann", 1, number: 1), for: String.self)
        }
        #expect(error == .otherType(at: Seq(2), "it is a Receipt, and a String was asked for"))
        let parts = Loop<Int, Int>(initial: 0, reducer: { $0 += $1 })
        await #expect(throws: AskError.unanswered(at: Seq(1), .undefined)) { try await parts.ask(1, for: Int.self) }
        loop.stop()
        await #expect(throws: AskError.refused(SendRefusal(.ended))) {
            try await loop.ask(.withdraw("ann", 1, number: 2), for: Bank.Receipt.self)
        }
    }

    @Test func `a scope asks the loop below`() async throws {
        let loop = Loop(Bank())
        let scope = loop.scoped(to: \.balances) { (amount: Int) in .withdraw("ann", amount, number: amount) }
        #expect(
            try await scope.ask(5, for: Bank.Receipt.self).answer == Bank.Receipt(isPaid: false, balance: 0))
    }

    @Test func `a test asks, asserts the change, and is given the answer`() throws {
        try TestLoop.run(Bank()) { loop in
            try loop.send(.deposit("ann", 100)) { $0.balances["ann"] = 100 }
            let receipt = try loop.ask(.withdraw("ann", 30, number: 1), for: Bank.Receipt.self) {
                $0.balances["ann"] = 70
            }
            #expect(receipt == Bank.Receipt(isPaid: true, balance: 70))
            let failure = #expect(throws: TestLoopFailure.self) {
                try loop.ask(.deposit("ann", 1), for: Bank.Receipt.self) { $0.balances["ann"] = 71 }
            }
            #expect(failure?.summary.contains("applied at seq 3, and has no answer") == true)
        }
    }
}
