import CBOR
import LoopCluster
import LoopCore
import LoopLock
import LoopWire

/// Answers what operators ask of the journal, on threads of their own that read while another one writes.
struct JournalQueries<Definition: LoopDefinition>: Sendable {
    private let definition: Definition
    private let read: JournalPlace.Reader?
    private let post: @Sendable (ReducerMail) -> Void
    private let openCount = Locked(0)

    /// How many questions are worked on at once.
    private static var openMax: Int { 4 }

    init(
        _ definition: Definition, read: JournalPlace.Reader?,
        post: @escaping @Sendable (ReducerMail) -> Void
    ) {
        self.definition = definition
        self.read = read
        self.post = post
    }

    /// What is read to answer a question.
    private enum Source: Sendable {
        case journal(JournalPlace.Reader)
        /// A journal in memory cannot be read by another thread. The newest state is known without it.
        case newest(Seq, Definition.State)
    }

    /// Begins to work on a question.
    /// - Parameters:
    ///   - request: what the answer is for.
    ///   - newest: the newest state. Where the journal is in memory, it is copied and not made again.
    /// - Returns: why not, or nil.
    func take(
        _ reading: JournalReading, for request: JournalRequest, newest: @autoclosure () -> (Seq, Definition.State)
    ) -> String? {
        let source: Source
        if let read {
            source = .journal(read)
        } else if case .state(at: nil) = reading {
            let (seq, state) = newest()
            source = .newest(seq, state)
        } else {
            return "this reducer keeps its journal in memory; start it with --journal FILE"
        }
        let isFull = openCount.withLock { count in
            if count >= Self.openMax { return true }
            count += 1
            return false
        }
        if isFull { return "\(Self.openMax) questions to the journal are being worked on; ask again" }
        let (definition, post, openCount) = (definition, post, openCount)
        do {
            _ = try NodeThread("loop-journal") {
                let answer: AdministrationAnswer
                do {
                    answer = try Self.answer(reading, definition, source)
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
        _ reading: JournalReading, _ definition: Definition, _ source: Source
    ) throws -> AdministrationAnswer {
        switch source {
        case .newest(let seq, let state): return .state(seq: seq.value, bytes: try CBOR.encode(state))
        case .journal(let read):
            var journal = try read(Definition.name)
            defer { journal.close() }
            return try answer(reading, definition, journal)
        }
    }

    private static func answer(
        _ reading: JournalReading, _ definition: Definition, _ journal: any Journal
    ) throws -> AdministrationAnswer {
        switch reading {
        case .history(let from, let through, let after):
            return .history(try HistoryPage(of: journal, from: from, through: through, after: after))
        case .state(let seq):
            let recovery = try Recovery(
                definition, from: journal, coder: CBORCoder(), through: seq, ignoresArguments: true)
            let reached = recovery.core.seq
            if let seq, reached != seq { return .refused("the journal ends at seq \(reached), before seq \(seq)") }
            return .state(seq: reached.value, bytes: try CBOR.encode(recovery.core.state))
        case .verify:
            return .verified(try Verification.report(on: journal, of: definition, coder: CBORCoder()))
        }
    }
}
