import CBOR
import LoopCollections
import LoopCore
import LoopNode
import LoopWire
import TestFolders
import Testing

@testable import LoopNode

@Suite(.timeLimit(.minutes(5))) struct `An operator's question` {
    private func ask(
        _ reducer: FakeReducer, _ request: AdministrationRequest = .schedules, within limit: Duration = .seconds(20)
    ) async throws -> AdministrationAnswer {
        let address = reducer.address
        return try await NodeThread.run("operator") {
            var call = try AdministrationCall(reducer: address)
            return try call.exchange(request, within: limit)
        }
    }

    @Test func `reaches the reducer as it was asked, once`() async throws {
        let reducer = try FakeReducer(answering: { _ in .done("it runs again") })
        let request = AdministrationRequest.retryParked(effect: "0.7.1", who: "me@here")
        #expect(try await ask(reducer, request) == .done("it runs again"))
        #expect(reducer.asked.withLock { $0 } == [request])
    }

    @Test func `has the kind of answer that belongs to it`() async throws {
        let reducer = try FakeReducer(answering: { request in
            switch request {
            case .schedules: .schedules([])
            case .verify: .refused("the journal is in memory")
            default: .done("something else")
            }
        })
        let address = reducer.address
        try await NodeThread.run("operator") {
            var call = try AdministrationCall(reducer: address)
            #expect(try call.ask(.schedules, \.schedules, within: .seconds(20)) == [])
            #expect(throws: AdministrationError.refused("the journal is in memory")) {
                try call.ask(.verify, \.verified, within: .seconds(20))
            }
            #expect(throws: AdministrationError.unexpected) {
                try call.ask(.quarantine, \.quarantine, within: .seconds(20))
            }
        }
    }

    @Test func `can have an answer larger than a message`() async throws {
        let state = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let reducer = try FakeReducer(answering: { _ in .state(seq: 9, bytes: state) })
        #expect(try await ask(reducer) == .state(seq: 9, bytes: state))
    }

    @Test func `hears nothing that was said to others, and nothing else that is said`() async throws {
        let reducer = try FakeReducer { _, number in
            let other = AnswerPart.parts(of: try CBOR.encode(AdministrationAnswer.done("other")), request: number &+ 1)
            let own = AnswerPart.parts(of: try CBOR.encode(AdministrationAnswer.done("own")), request: number)
            return [.serverHeartbeat(Seq(3))] + other.map { .answer($0) } + own.map { .answer($0) }
        }
        #expect(try await ask(reducer) == .done("own"))
    }

    @Test func `without an answer says so, and how far the answer came`() async throws {
        let silent = try FakeReducer { _, _ in [] }
        await #expect(
            throws: AdministrationError.silent(silent.address, .milliseconds(50), parts: 0, of: 0)
        ) { try await ask(silent, within: .milliseconds(50)) }
        let broken = try FakeReducer { _, number in
            [.answer(AnswerPart(request: number, part: 0, parts: 3, bytes: [1, 2]))]
        }
        // If the time is over before the first part has come, the error says less.
        var text = ""
        while !text.contains("sent 1 of the 3 parts of its answer") {
            let error = await #expect(throws: AdministrationError.self) {
                try await ask(broken, within: .milliseconds(200))
            }
            text = try #require(error).description
        }
    }

    @Test func `tells of an answer whose parts do not fit together`() async throws {
        let reducer = try FakeReducer { _, number in
            [.answer(AnswerPart(request: number, part: 1, parts: 2, bytes: [1, 2]))]
        }
        await #expect(throws: AdministrationError.outOfOrder(part: 1, expected: 0)) { try await ask(reducer) }
    }

    @Test func `tells of an answer that this release cannot read`() async throws {
        let reducer = try FakeReducer { _, number in
            [.answer(AnswerPart(request: number, part: 0, parts: 1, bytes: [0xFF]))]
        }
        let error = await #expect(throws: AdministrationError.self) { try await ask(reducer) }
        #expect(error?.description.contains("use the same release") == true)
    }
}

@Suite struct `The parts of an answer` {
    private func part(_ number: UInt32, of count: UInt32, _ bytes: [UInt8]) -> AnswerPart {
        AnswerPart(request: 5, part: number, parts: count, bytes: bytes[...])
    }

    @Test func `come together in their order`() throws {
        var answer = AnswerAssembly(request: 5)
        #expect(try answer.take(part(0, of: 3, [1])) == .more)
        #expect(try answer.take(part(1, of: 3, [])) == .more)
        #expect(try answer.take(part(2, of: 3, [2, 3])) == .whole([1, 2, 3]))
    }

    @Test func `cannot be taken twice, left out, or change their number`() throws {
        for wrong in [part(0, of: 3, [1]), part(2, of: 3, [1]), part(1, of: 4, [1])] {
            var answer = AnswerAssembly(request: 5)
            #expect(try answer.take(part(0, of: 3, [1])) == .more)
            #expect(throws: AdministrationError.outOfOrder(part: wrong.part, expected: 1)) { try answer.take(wrong) }
        }
    }

    @Test func `are not more than memory is meant for`() throws {
        var answer = AnswerAssembly(request: 5, bytesMax: 4)
        #expect(try answer.take(part(0, of: 9, [1, 2, 3])) == .more)
        #expect(throws: AdministrationError.tooLarge(limit: 4)) { try answer.take(part(1, of: 9, [4, 5])) }
        #expect(try answer.take(part(1, of: 9, [4])) == .more)
    }
}
