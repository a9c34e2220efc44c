import LoopCluster
import LoopCore
import LoopWire

/// An observer's machine that hears anything: the states that it shows come in order.
struct ObserverRun {
    private var machine: ObserverMachine
    private var time: Int64 = 1000
    private var seq: Seq?

    init(flags: UInt8) {
        machine = ObserverMachine(
            states: flags & 1 == 0, transitions: flags & 2 == 0, at: .zero + .milliseconds(1000))
    }

    /// The kinds of steps in a conversation with an observer.
    enum Step: UInt8, CaseIterable {
        /// A frame that is published: the bytes.
        case published
        /// A frame over DEALER: the bytes.
        case reply
        /// Time: so many times 50 milliseconds.
        case wait
    }

    mutating func step(_ input: inout FuzzInput) throws {
        let now = MonotonicTime.zero + .milliseconds(time)
        let (history, epoch) = (machine.history, machine.epoch)
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
        // In another history seqs begin anew, and in an older epoch: in a journal that was put back.
        if machine.history != history || machine.epoch.number < epoch.number { seq = nil }
        for case .state(let shown, _) in machine.takeActions() {
            try require(seq.map { shown > $0 } ?? true, "state \(shown) is shown after \(seq?.description ?? "")")
            seq = shown
        }
        _ = machine.deadline
    }
}
