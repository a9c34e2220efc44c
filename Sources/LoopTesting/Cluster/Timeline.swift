/// One planned fault, which happens at its time, whatever the seed draws.
enum TimelineEntry: Sendable {
    case join
    case kill(SimulatedPeerName)
    case stop(SimulatedPeerName)
    case freeze(SimulatedPeerName, nanoseconds: UInt64)
    case cut(SimulatedPeerName, Timeline.Direction, nanoseconds: UInt64)
    case dropInbox(SimulatedPeerName, messages: Int)
    case losePushes(SimulatedPeerName)
    case crashReducer(losesPower: Bool)
    case restartReducer
    case freezeReducer(nanoseconds: UInt64)
    case failDisk(nanoseconds: UInt64)
}

/// A slot in the cluster; another process may have it by then.
enum SimulatedPeerName: Equatable, Sendable {
    case worker(Int)
    case client(Int)
}

/// The planned faults of one moment of a simulated cluster's run. Workers and clients are numbered from 0; one that replaces
/// another has its number.
public struct Timeline: Sendable {
    var all: [TimelineEntry] = []

    /// Which messages a cut holds back.
    public enum Direction: Sendable {
        /// The messages of both sides.
        case both
        /// Messages of the reducer do not arrive.
        case fromReducer
        /// Messages of the other side do not arrive.
        case toReducer
    }

    /// A further worker is started.
    public mutating func joinWorker() { all.append(.join) }

    /// The process is killed; another takes its place.
    public mutating func killWorker(_ number: Int) { all.append(.kill(.worker(number))) }

    /// The process is killed; another takes its place.
    public mutating func killClient(_ number: Int) { all.append(.kill(.client(number))) }

    /// The worker is asked to leave: it hands its effects back. Another takes its place.
    public mutating func stopWorker(_ number: Int) { all.append(.stop(.worker(number))) }

    /// The process stands still for a duration.
    public mutating func freezeWorker(_ number: Int, for duration: Duration) {
        all.append(.freeze(.worker(number), nanoseconds: UInt64(max(0, duration.wholeNanoseconds))))
    }

    /// Nothing gets through between a worker and the reducer for a duration; messages that are sent meanwhile wait, as far as
    /// there is room.
    public mutating func partition(worker number: Int, _ direction: Direction = .both, for duration: Duration) {
        all.append(.cut(.worker(number), direction, nanoseconds: UInt64(max(0, duration.wholeNanoseconds))))
    }

    /// Nothing gets through between a client and the reducer for a duration.
    public mutating func partition(client number: Int, _ direction: Direction = .both, for duration: Duration) {
        all.append(.cut(.client(number), direction, nanoseconds: UInt64(max(0, duration.wholeNanoseconds))))
    }

    /// The reducer's publisher drops the next messages for a worker, as it does for one that reads too slowly.
    public mutating func dropInbox(worker number: Int, messages: Int) {
        all.append(.dropInbox(.worker(number), messages: messages))
    }

    /// The worker's connection for events loses the middle of what it carries.
    public mutating func losePushes(worker number: Int) { all.append(.losePushes(.worker(number))) }

    /// The reducer's process is killed, and started again.
    public mutating func crashReducer() { all.append(.crashReducer(losesPower: false)) }

    /// The reducer's machine loses power: unsynced records are lost.
    public mutating func losePower() { all.append(.crashReducer(losesPower: true)) }

    /// The reducer is stopped gracefully, and started again.
    public mutating func restartReducer() { all.append(.restartReducer) }

    /// The reducer stands still for a duration.
    public mutating func freezeReducer(for duration: Duration) {
        all.append(.freezeReducer(nanoseconds: UInt64(max(0, duration.wholeNanoseconds))))
    }

    /// The journal's disk is full for a duration.
    public mutating func fillDisk(for duration: Duration) {
        all.append(.failDisk(nanoseconds: UInt64(max(0, duration.wholeNanoseconds))))
    }
}

extension ClusterEngine {
    /// Performs the planned faults, as far as they apply.
    func perform(_ happening: TimelineEntry) throws(Violation) {
        say("happening: \(ValueText.of(happening))")
        switch happening {
        case .join: try addPeer(.worker, roster.workerSlotCount)
        case .kill(let name): if let peer = peer(name) { try kill(peer) }
        case .stop(let name): if let peer = peer(name) { try stop(peer) }
        case .freeze(let name, let nanoseconds): peer(name)?.life.frozenUntil = now + nanoseconds
        case .cut(let name, let direction, let nanoseconds):
            peer(name)?.sockets.cut(direction, until: now + nanoseconds)
        case .dropInbox(let name, let count): peer(name)?.sockets.subscriber.dropCount = count
        case .losePushes(let name):
            var dice = random
            if let peer = peer(name) { _ = cutPush(of: peer, &dice) }
            random = dice
        case .crashReducer(let losesPower): try crashReducer(losesPower: losesPower)
        case .restartReducer: try stopReducer()
        case .freezeReducer(let nanoseconds): process.frozenUntil = now + nanoseconds
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
