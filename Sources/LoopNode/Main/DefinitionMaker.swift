import LoopCore

/// Makes a definition for a program. What the definition needs, such as a pool of connections, may take time.
struct DefinitionMaker<Definition: LoopDefinition>: Sendable {
    private let make: @Sendable () async throws -> Definition

    init(_ make: @escaping @Sendable () async throws -> Definition) { self.make = make }

    /// - Throws: `NodeError.definition` with what went wrong, or a `UsageError` unchanged.
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

    /// Makes the definition for a program that can be stopped while it waits, and that logs a long wait.
    /// - Returns: the definition, or nil if the program was stopped.
    func definition(
        until stop: StopRequest, _ log: NodeLog, isLongAfter limit: Duration = .seconds(2)
    ) async throws -> Definition? {
        // A separate task, because the thread that makes the definition cannot report that it takes long.
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
