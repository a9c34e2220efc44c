import LoopCore
import LoopOptions

/// Makes a definition for a program. What the definition needs, such as a pool of connections, may take its time.
struct DefinitionMaker<Definition: LoopDefinition>: Sendable {
    private let make: @Sendable () async throws -> Definition

    init(_ make: @escaping @Sendable () async throws -> Definition) { self.make = make }

    /// - Throws: `NodeError.definition` with what went wrong; a `UsageError` as it is.
    func definition() async throws -> Definition {
        do {
            return try await make()
        } catch let error as UsageError {
            throw error
        } catch {
            throw NodeError.definition(
                PrintableText.line("the definition of \(Definition.name) could not be made: \(error)"))
        }
    }

    /// The same for a program that can be stopped while it waits, and that says so in its log when it has waited for long.
    /// - Returns: nil: it was stopped.
    func definition(
        until stop: StopRequest, _ log: NodeLog, isLongAfter limit: Duration = .seconds(2)
    ) async throws -> Definition? {
        // A task of its own, since the thread that is waited for cannot tell that it takes long.
        let notice = Task {
            try await Task.sleep(for: limit)
            log.note(
                .waiting,
                "waiting for what the definition of \(Definition.name) needs, for \(limit.text) so far",
                [.duration(limit)])
        }
        defer { notice.cancel() }
        return try await stop.value { try await definition() }
    }
}
