/// One of the reducer's processes at work: its turns, its journal or its statements to the database, and what it exchanges with peers.
struct ReducerActor<Work: Workload>: WorldActor {
    let world: World<Work>
    let candidate: Candidate<Ran>

    var process: ReducerProcess<Ran> {
        _read { yield candidate.process }
        nonmutating _modify { yield &candidate.process }
    }

    /// The place of a peer's sockets that are connected to this process.
    var here: Int { candidate.index }

    /// The definition as the process runs it.
    var ran: Ran { TrappedLoop(base: world.work.definition, trap: process.trap) }
}
