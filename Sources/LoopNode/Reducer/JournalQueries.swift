import CBOR
import LoopCluster
import LoopCore
import LoopLock
import LoopWire

/// Answers what operators ask of the journal and of the state, each question on a thread of its own, while another one writes. For the
/// newest state the journal is not read, so that such a question never waits for those that read it.
struct JournalQueries: Sendable {
    private let loop: String
    private let answer: @Sendable (JournalReading, any Journal) throws -> AdministrationAnswer
    private let read: JournalPlace.Reader?
    private let post: @Sendable (ReducerMail) -> Void
    /// How many questions of each kind are worked on.
    private let reading = Locked(0)
    private let showing = Locked(0)

    /// How many questions of a kind are worked on at once.
    private static var countMax: Int { 4 }

    init<Definition: LoopDefinition>(
        _ definition: Definition, read: JournalPlace.Reader?,
        post: @escaping @Sendable (ReducerMail) -> Void
    ) {
        loop = Definition.name
        answer = { try Self.answer($0, definition, $1) }
        self.read = read
        self.post = post
    }

    /// Begins to work on a question.
    /// - Parameters:
    ///   - request: what the answer is for.
    ///   - newest: makes a closure that encodes a part of the newest state.
    /// - Returns: why not, or nil.
    func take(
        _ question: JournalReading, for request: JournalRequest,
        newest: (StateSelection) -> @Sendable () throws -> AdministrationAnswer
    ) -> String? {
        if case .state(at: nil, let part) = question {
            return begin(newest(part), for: request, showing, "the newest state is")
        }
        guard let read else { return "this reducer keeps its journal in memory; start it with --journal FILE" }
        return begin(
            { [loop, answer] in
                var journal = try read(loop) { _ in }
                defer { journal.close() }
                return try answer(question, journal)
            }, for: request, reading, "the journal is")
    }

    private func begin(
        _ work: @escaping @Sendable () throws -> AdministrationAnswer, for request: JournalRequest,
        _ count: Locked<Int>, _ what: String
    ) -> String? {
        let isFree = count.withLock { count in
            guard count < Self.countMax else { return false }
            count += 1
            return true
        }
        guard isFree else {
            return "\(what) being read for \(Self.countMax) other questions; ask again when one is answered"
        }
        do {
            _ = try NodeThread("loop-journal") { [post] in
                let result = Result(catching: work)
                count.withLock { $0 -= 1 }
                switch result {
                case .success(let answer): post(.answer(request, answer))
                case .failure(let error): post(.answer(request, .refused("\(error)")))
                }
            }
            return nil
        } catch {
            count.withLock { $0 -= 1 }
            return "\(error)"
        }
    }

    private static func answer(
        _ reading: JournalReading, _ definition: some LoopDefinition, _ journal: any Journal
    ) throws -> AdministrationAnswer {
        switch reading {
        case .history(let from, let through, let after):
            return .history(try HistoryPage(of: journal, from: from, through: through, after: after))
        case .state(let seq, let part):
            let recovery = try Recovery(showing: seq, of: journal, definition, coder: CBORCoder())
            return .state(
                seq: recovery.core.seq.value, bytes: try ShownState.encode(part, of: recovery.core.state, definition))
        case .verify:
            return .verified(try Verification.report(on: journal, of: definition, coder: CBORCoder()))
        }
    }
}
