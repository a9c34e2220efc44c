import LoopCluster
import LoopCore
import LoopWire

/// An observer's machine that hears anything, and a follower of what it hands out: the states that they show come in order.
struct ObserverRun {
    private var machine: ObserverMachine
    private var follower: StateFollower<Allotment.State>
    private let sees: Bool
    private var time: Int64 = 1000
    private var seq: Seq?
    /// What the follower showed last.
    private var shown: Seq?

    /// - Parameter flags: 1 no states, 2 no transitions, 4 differences.
    init(flags: UInt8) {
        var following = Following(.none)
        if flags & 1 == 0 { following = .wholeStates }
        if flags & 4 != 0 { following = .updates(.delta) }
        following.transitions = flags & 2 == 0
        follower = StateFollower(Allotment.State.self)
        sees = following.dependsOnTheLast
        machine = ObserverMachine(following, at: .zero + .milliseconds(1000))
    }

    /// The kinds of steps in a conversation with an observer.
    enum Step: UInt8, CaseIterable {
        /// A frame that is published: the bytes.
        case published
        /// A frame over DEALER: the bytes.
        case reply
        /// Time, in steps of 50 milliseconds.
        case wait
    }

    mutating func step(_ input: inout FuzzInput) throws {
        let now = MonotonicTime.zero + .milliseconds(time)
        switch Step.allCases[Int(input.byte()) % Step.allCases.count] {
        case .published:
            let bytes = input.chunk()
            guard let frame = try? PeerFrame(bytes: bytes[...]) else { return }
            machine.receivePublished(frame, at: now)
        case .reply:
            let bytes = input.chunk()
            guard let frame = try? PeerFrame(bytes: bytes[...]) else { return }
            machine.receiveReply(frame, at: now)
        case .wait:
            time += 50 * Int64(input.byte())
            machine.advance(to: .zero + .milliseconds(time))
        }
        var hasDiverged = false
        for action in machine.takeActions() where !hasDiverged || !action.buildsOnTheLast {
            if try take(action) { hasDiverged = true }
        }
        _ = machine.deadline
    }

    /// - Returns: whether it did not fit.
    private mutating func take(_ action: ObserverAction) throws -> Bool {
        switch action {
        // Seqs of two epochs do not compare.
        case .begins: (seq, shown) = (nil, nil)
        case .state(let new, _), .delta(let new, _, _): try advance(to: new)
        case .again(let new, _): try require(seq.map { new >= $0 } ?? true, "state \(new) is shown again after \(text)")
        default: break
        }
        // What whole states are is nothing to an observer that is not asked.
        guard sees else { return false }
        var hasDiverged = false
        var steps: [StateFollower<Allotment.State>.Step] = []
        follower.take(action) { steps.append($0) }
        for step in steps {
            switch step {
            case .shows(let id, _):
                let new = id.seq
                try require(shown.map { new >= $0 } ?? true, "\(new) is shown after \(shown?.description ?? "")")
                shown = new
            case .diverged:
                machine.resync(shown: follower.shown)
                seq = follower.shown
                hasDiverged = true
            case .renames: break
            }
        }
        return hasDiverged
    }

    private var text: String { seq?.description ?? "" }

    private mutating func advance(to new: Seq) throws {
        try require(seq.map { new > $0 } ?? true, "state \(new) is shown after \(text)")
        seq = new
    }
}
