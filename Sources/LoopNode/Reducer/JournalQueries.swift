import CBOR
import LoopCluster
import LoopCore
import LoopLock
import LoopWire

/// Answers what operators ask of the journal and of the state, on threads of their own that read while another one writes. Questions
/// that find no thread free wait for one.
struct JournalQueries: Sendable {
    private let loop: String
    private let answer: @Sendable (JournalReading, any Journal) throws -> AdministrationAnswer
    private let read: JournalPlace.Reader?
    private let post: @Sendable (ReducerMail) -> Void
    private let desk = Locked(Desk())

    private struct Desk {
        var threadsCount = 0
        var waiting: [@Sendable () -> Void] = []
    }

    /// How many questions are worked on at once.
    private static var threadsMax: Int { 4 }
    /// How many questions may wait for a thread.
    private static var waitingMax: Int { 256 }

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
        let post = post
        return queue {
            do {
                post(.answer(request, try work()))
            } catch {
                post(.answer(request, .refused("\(error)")))
            }
        }
    }

    /// Has a thread do a job, after those that wait.
    /// - Returns: why not, or nil.
    private func queue(_ job: @escaping @Sendable () -> Void) -> String? {
        let (isFull, needsThread) = desk.withLock { desk in
            if desk.waiting.count >= Self.waitingMax { return (true, false) }
            desk.waiting.append(job)
            guard desk.threadsCount < Self.threadsMax else { return (false, false) }
            desk.threadsCount += 1
            return (false, true)
        }
        if isFull {
            return
                "\(Self.waitingMax) questions for history, state or verify wait for this reducer's \(Self.threadsMax) threads;"
                + " ask again"
        }
        guard needsThread else { return nil }
        do {
            _ = try NodeThread("loop-journal") { [desk] in
                while let job = Self.next(at: desk) { job() }
            }
            return nil
        } catch {
            // Another thread does the job, if there is one. Else the job is the only one that waits.
            let isAlone = desk.withLock { desk in
                desk.threadsCount -= 1
                if desk.threadsCount == 0 { _ = desk.waiting.popLast() }
                return desk.threadsCount == 0
            }
            return isAlone ? "\(error)" : nil
        }
    }

    private static func next(at desk: Locked<Desk>) -> (@Sendable () -> Void)? {
        desk.withLock { desk in
            if desk.waiting.isEmpty {
                desk.threadsCount -= 1
                return nil
            }
            return desk.waiting.removeFirst()
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
