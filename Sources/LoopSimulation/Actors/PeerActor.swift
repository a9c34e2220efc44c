/// A worker, a client, an observer or the reducer's own peer at work: its turns, the bodies of its effects, and what it exchanges with
/// the reducer.
struct PeerActor<Work: Workload>: WorldActor {
    let world: World<Work>
    let peer: Peer

    /// The process of the reducer that it talks to.
    var candidate: Candidate<Ran> { world.candidates[peer.place] }
    var reducer: ReducerActor<Work> { world.at(candidate) }

    /// The place of its sockets that are connected to that process.
    var here: Int { peer.place }
}
