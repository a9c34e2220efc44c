import CBOR
import LoopCluster
import LoopCore
import LoopLock
import LoopWire

/// Answers what operators ask of the journal, on threads of their own that read while another one writes.
struct JournalQueries: Sendable {
    private let loop: String
    private let answer: @Sendable (JournalReading, any Journal) throws -> AdministrationAnswer
    private let read: JournalPlace.Reader?
    private let post: @Sendable (ReducerMail) -> Void
    private let openCount = Locked(0)

    /// How many questions are worked on at once.
    private static var openMax: Int { 4 }

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
    ///   - newest: makes a closure that encodes a part of the newest state, for which the journal is not read.
    /// - Returns: why not, or nil.
    func take(
        _ reading: JournalReading, for request: JournalRequest,
        newest: (StateSelection) -> @Sendable () throws -> AdministrationAnswer
    ) -> String? {
        let work: @Sendable () throws -> AdministrationAnswer
        if case .state(at: nil, let part) = reading {
            work = newest(part)
        } else if let read {
            work = { [loop, answer] in
                var journal = try read(loop) { _ in }
                defer { journal.close() }
                return try answer(reading, journal)
            }
        } else {
            return "this reducer keeps its journal in memory; start it with --journal FILE"
        }
        let isFull = openCount.withLock { count in
            if count >= Self.openMax { return true }
            count += 1
            return false
        }
        if isFull { return "\(Self.openMax) questions to the journal are being worked on; ask again" }
        let (post, openCount) = (post, openCount)
        do {
            _ = try NodeThread("loop-journal") {
                let answer: AdministrationAnswer
                do {
                    answer = try work()
                } catch {
                    answer = .refused("\(error)")
                }
                openCount.withLock { $0 -= 1 }
                post(.answer(request, answer))
            }
        } catch {
            openCount.withLock { $0 -= 1 }
            return "\(error)"
        }
        return nil
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
