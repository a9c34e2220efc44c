import LoopTesting

/// One planned fault, which happens at its time, independent of the seed.
enum TimelineEntry: Sendable {
    case join
    case kill(SimulatedPeerName)
    case stop(SimulatedPeerName)
    case cut(SimulatedPeerName, Timeline.Direction, nanoseconds: UInt64)
    case dropInbox(SimulatedPeerName, messages: Int)
    case losePushes(SimulatedPeerName)
    case crashReducer(losesPower: Bool)
    case restartReducer
    case freezeReducer(nanoseconds: UInt64)
    case failDisk(nanoseconds: UInt64)
}

/// A slot in the cluster. Another process may have the slot by then.
enum SimulatedPeerName: Equatable, Sendable {
    case worker(Int)
    case client(Int)
}

/// The planned faults of one moment of a simulated cluster's run. Workers and clients are numbered from 0. A process that replaces
/// another has its number.
public struct Timeline: Sendable {
    var all: [TimelineEntry] = []

    /// The messages that a cut delays.
    public enum Direction: Sendable {
        /// The messages of both sides.
        case both
        /// The messages of the reducer.
        case fromReducer
        /// The messages of the other side.
        case toReducer
    }

    /// Starts a further worker.
    public mutating func joinWorker() { all.append(.join) }

    /// Kills a worker's process. Another one replaces it.
    public mutating func killWorker(_ number: Int) { all.append(.kill(.worker(number))) }

    /// Asks a worker to leave. It hands its effects back, and another one replaces it.
    public mutating func stopWorker(_ number: Int) { all.append(.stop(.worker(number))) }

    /// Cuts a worker off from the reducer for a duration. Messages that are sent meanwhile wait, as far as there is space.
    public mutating func partition(worker number: Int, _ direction: Direction = .both, for duration: Duration) {
        all.append(.cut(.worker(number), direction, nanoseconds: UInt64(max(0, duration.wholeNanoseconds))))
    }

    /// Cuts a client off from the reducer for a duration.
    public mutating func partition(client number: Int, _ direction: Direction = .both, for duration: Duration) {
        all.append(.cut(.client(number), direction, nanoseconds: UInt64(max(0, duration.wholeNanoseconds))))
    }

    /// Makes the reducer's publisher drop the next messages for a worker, as it does for a slow reader.
    public mutating func dropInbox(worker number: Int, messages: Int) {
        all.append(.dropInbox(.worker(number), messages: messages))
    }

    /// Makes the worker's connection for events lose the middle of what it carries.
    public mutating func losePushes(worker number: Int) { all.append(.losePushes(.worker(number))) }

    /// Kills the reducer's process, and starts it again.
    public mutating func crashReducer() { all.append(.crashReducer(losesPower: false)) }

    /// Makes the reducer's machine lose power. Unsynced records are lost.
    public mutating func losePower() { all.append(.crashReducer(losesPower: true)) }

    /// Stops the reducer gracefully, and starts it again.
    public mutating func restartReducer() { all.append(.restartReducer) }

    /// Freezes the reducer for a duration.
    public mutating func freezeReducer(for duration: Duration) {
        all.append(.freezeReducer(nanoseconds: UInt64(max(0, duration.wholeNanoseconds))))
    }

    /// Fills the journal's disk for a duration.
    public mutating func fillDisk(for duration: Duration) {
        all.append(.failDisk(nanoseconds: UInt64(max(0, duration.wholeNanoseconds))))
    }
}

extension World {
    /// Performs the planned faults, as far as they apply.
    func perform(_ happening: TimelineEntry) throws(Violation) {
        say("happening: \(ValueText.of(happening))")
        switch happening {
        case .join: try addPeer(.worker, roster.workerSlotCount)
        case .kill(let name): if let peer = peer(name) { try at(peer).kill() }
        case .stop(let name): if let peer = peer(name) { try at(peer).stop() }
        case .cut(let name, let direction, let nanoseconds):
            peer(name)?.sockets[0].cut(direction, until: now + nanoseconds)
        case .dropInbox(let name, let count): peer(name)?.sockets[0].subscriber.dropCount = count
        case .losePushes(let name):
            var dice = random
            if let peer = peer(name) { _ = reducer(0).cutPush(of: peer, &dice) }
            random = dice
        case .crashReducer(let losesPower): try reducer(0).crash(losesPower: losesPower)
        case .restartReducer: try reducer(0).stop()
        case .freezeReducer(let nanoseconds): candidates[0].process.frozenUntil = now + nanoseconds
        case .failDisk(let nanoseconds): storage.faults.fullUntil = now + nanoseconds
        }
    }

    private func peer(_ name: SimulatedPeerName) -> Peer? {
        switch name {
        case .worker(let slot): roster.living(.worker, slot)
        case .client(let slot): roster.living(.client, slot)
        }
    }
}
