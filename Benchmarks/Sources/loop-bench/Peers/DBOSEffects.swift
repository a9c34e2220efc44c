/// Effects of DBOS, a library for Python, in a PostgreSQL database that is set up as ours is.
struct DBOSEffects: Peer {
    /// How an effect is written; each is what its documentation offers.
    enum Way: String, CaseIterable {
        /// As a workflow of a queue, which other processes empty: what is most like ours.
        case queue
        /// As a workflow that runs in the process that starts it.
        case workflows
        /// As a step of such a workflow.
        case steps
    }

    let python: String
    let program: String
    let way: Way

    var name: String { "DBOS \(way)" }

    func count(_ full: Int) -> Int { min(full, 4096) }

    func start(
        in folder: String, workers: Int, window: Int, count: Int, _ roles: RoleProcesses
    ) async throws -> RoleProcess {
        let words = [program, try await Databases.shared.make(.one), way.rawValue]
        return try roles.start(python, words + [workers, window, count].map(String.init), in: folder)
    }
}
