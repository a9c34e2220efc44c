import CBOR
import LoopCluster
import LoopCore
import LoopCollections
import LoopWire

/// Answers operators' questions about the journal and the state, each on its own thread, while another thread writes. The
/// newest state is not read from the journal, so that a question about it never waits for those that are.
struct JournalQueries: Sendable {
    private let loop: String
    private let answer: @Sendable (JournalReading, any Journal) throws -> AdministrationAnswer
    private let read: JournalPlace.Reader?
    private let post: @Sendable (ReducerMail) -> Void
    /// How many questions are being answered: those that read records, those that replay them, and those about the newest state.
    /// A replay may take minutes, and must not keep others from reading.
    private let reading = Locked(0)
    private let replaying = Locked(0)
    private let showing = Locked(0)

    /// How many questions of a kind may be answered at once.
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

    /// Begins to answer a question.
    /// - Parameters:
    ///   - request: the request that the answer is for.
    ///   - newest: makes a closure that encodes a part of the newest state.
    /// - Returns: the reason if it does not begin, else nil.
    func take(
        _ question: JournalReading, for request: JournalRequest,
        newest: (StateSelection, OutlineSelection?) -> @Sendable () throws -> AdministrationAnswer
    ) -> String? {
        if case .state(at: nil, let part, let outline) = question {
            return begin(newest(part, outline), for: request, showing, "the newest state is being read")
        }
        guard let read else { return "this reducer keeps its journal in memory; start it with --journal FILE" }
        let work: @Sendable () throws -> AdministrationAnswer = { [loop, answer] in
            var journal = try read(loop) { _ in }
            defer { journal.close() }
            return try answer(question, journal)
        }
        switch question {
        case .history, .origin(_, _, _, step: false):
            return begin(work, for: request, reading, "the journal is being read")
        case .state, .origin, .changes, .verify:
            return begin(work, for: request, replaying, "the journal is being replayed")
        }
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
            return "\(what) for \(Self.countMax) other questions; ask again when one is answered"
        }
        do {
            _ = try NodeThread("loop-journal") { [post] in
                let result = Result(catching: work)
                count.withLock { $0 -= 1 }
                switch result {
                case .success(let answer): post(.letter(.answer(answer, request)))
                case .failure(let error): post(.letter(.answer(.refused("\(error)"), request)))
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
        case .history(let from, let through, let after, nil):
            return .history(try HistoryPage(of: journal, from: from, through: through, after: after))
        case .history(let from, let through, let before, let filter?):
            return .history(
                try HistoryPage(of: journal, from: from, through: through, before: before, matching: filter))
        case .state(let seq, let part, let outline):
            let recovery = try Recovery(showing: seq, of: journal, definition, coder: CBORCoder())
            let journaled = recovery.journaled
            return .state(
                seq: journaled.seq.value,
                bytes: try ShownState.encode(part, of: journaled.state(of: definition), definition, outline: outline))
        case .origin(let seq, let feedbacks, let keys, let wantsStep):
            var origin = try EventOrigin(of: seq, in: journal, feedbacks: feedbacks, keys: keys)
            if wantsStep { origin.step = try StateStep(of: seq, in: journal, definition, coder: CBORCoder()) }
            return .origin(origin)
        case .changes(let part, let limit, let max):
            let found = try PartChanges(of: part, before: limit, max: max, in: journal, definition, coder: CBORCoder())
            return .changes(found.changes, from: found.from.value, because: found.reason)
        case .verify:
            return .verified(try Verification.report(on: journal, of: definition, coder: CBORCoder()))
        }
    }
}
