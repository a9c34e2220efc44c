import CBOR
import LoopCluster
import LoopCore
import LoopWire
import Testing

/// An observer's machine and the follower above it, as a shell joins them.
struct Watcher {
    var machine: ObserverMachine
    var follower: StateFollower<Library.State>
    /// What was asked of the reducer.
    var asked: [ToReducer] = []
    /// What was shown, in order.
    var shown: [(seq: UInt64, state: Library.State)] = []
    var divergences: [StateDivergence] = []
    /// Milliseconds.
    var time: Int64 = 1000
    var epoch = Epoch(number: 1, nonce: 7)

    init(_ following: Following) {
        machine = ObserverMachine(following, at: .zero + .milliseconds(1000))
        follower = StateFollower(Library.State.self)
    }

    private var now: MonotonicTime { .zero + .milliseconds(time) }

    func id(_ seq: UInt64) -> StateID { StateID(history: LibraryBench.history, epoch: epoch, seq: Seq(seq)) }

    private func frame(_ message: ToPeer) -> PeerFrame {
        PeerFrame(history: LibraryBench.history, epoch: epoch, session: .none, message: message)
    }

    mutating func hear(_ messages: ToPeer...) {
        for message in messages { machine.receivePublished(frame(message), at: now) }
        perform()
    }

    mutating func fetch(_ seq: UInt64, _ state: Library.State) throws {
        let bytes = try CBOR.encode(state)
        receive(
            .statePart(
                StatePart(transfer: seq + 1, seq: Seq(seq), part: 0, end: .state, bytes: bytes)))
    }

    /// The state in chunks, each a part of its own.
    /// - Parameter comes: whether a part arrives.
    mutating func fetch(
        _ seq: UInt64, inChunks state: Library.State, _ comes: (UInt64) -> Bool = { _ in true }
    ) throws {
        var rest = try #require(try StateChunks(of: state))
        var part: UInt64 = 0
        while !rest.isAtEnd {
            let bytes = try rest.next(byteCount: 20)
            let end = rest.isAtEnd ? StatePart.End.state : .chunk
            if comes(part) {
                receive(
                    .statePart(StatePart(transfer: seq + 1, seq: Seq(seq), part: part, end: end, bytes: bytes)))
            }
            part += 1
        }
    }

    mutating func receive(_ reply: ToPeer) {
        machine.receiveReply(frame(reply), at: now)
        perform()
    }

    mutating func wait(_ milliseconds: Int64) {
        time += milliseconds
        machine.advance(to: now)
        perform()
    }

    private mutating func perform() {
        for action in machine.takeActions() {
            if case .send(let message) = action { asked.append(message) }
            var steps: [StateFollower<Library.State>.Step] = []
            follower.take(action) { steps.append($0) }
            for step in steps {
                switch step {
                case .shows(let id, let state): shown.append((id.seq.value, state))
                case .renames: break
                case .diverged(let divergence):
                    divergences.append(divergence)
                    machine.resync(shown: follower.shown)
                }
            }
        }
    }

    mutating func takeAsked() -> [ToReducer] {
        defer { asked = [] }
        return asked
    }

    var seqs: [UInt64] { shown.map(\.seq) }
}

extension ObserverMachine {
    /// The actions but for those that say which epoch they are of.
    mutating func takeRest() -> [ObserverAction] {
        takeActions().filter { if case .begins = $0 { false } else { true } }
    }
}

/// A library's past: its states by their seq.
struct Past {
    var states = [Library.State()]

    init(_ events: Library.Event...) throws {
        for (index, event) in events.enumerated() {
            let seq = Seq(UInt64(index + 1))
            var state = states[index]
            let time = WallTime(milliseconds: 5)
            Library().reduce(into: &state, event, Transition(seq: seq, time: time, seed: LibraryBench.history.value))
            states.append(state)
        }
    }

    func delta(_ base: Int, _ seq: Int, hash: Bool = false) throws -> ToPeer {
        .delta(
            StateDelta(
                base: Seq(UInt64(base))...Seq(UInt64(base)), seq: Seq(UInt64(seq)),
                hash: hash ? try self.hash(seq) : nil,
                bytes: try Delta.encode(since: DeltaBase(of: states[base]), to: states[seq])))
    }

    func hash(_ seq: Int) throws -> UInt64 { StableHash.fnv1a(try CBOR.encode(states[seq])) }

    static func some() throws -> Past {
        try Past(
            .shelve("Emma", 1), .shelve("Ulysses", 2), .visit, .lend("Emma"), .shelve("Emma", 9), .visit,
            .shelve("Walden", 1), .lend("Ulysses"))
    }
}
