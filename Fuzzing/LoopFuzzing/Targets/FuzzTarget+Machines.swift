import LoopCluster
import LoopCore
import LoopWire

extension FuzzTarget {
    /// A conversation with a reducer, message by message, on its way through bytes. What is refused changes nothing that the
    /// journal determines, what is applied is journaled, and every answer can be read.
    static let reducer = FuzzTarget("reducer", budget: AllocationBudget(fixed: 4 << 20, perByte: 16 << 10)) { bytes in
        var input = FuzzInput(bytes)
        let flags = input.byte()
        let note = flags & 1 == 0 ? [] : input.chunk()
        try withNote(note) { note in
            if flags & 1 != 0 { _ = note.begin(history: ReducerRun.history, executable: 1, thread: 1) }
            var run = try ReducerRun(note: flags & 1 == 0 ? nil : note)
            while !input.isAtEnd { try step(&run, &input) }
        }
    }

    /// The kinds of steps in a conversation with a reducer.
    enum ReducerStep: UInt8, CaseIterable {
        /// A frame over DEALER: the route, the bytes.
        case control
        /// A frame over PUSH: the bytes.
        case batch
        /// Time, in steps of 50 milliseconds.
        case wait
        /// A peer of another version.
        case otherVersion
        /// A subscription is seen: the peer's low half.
        case subscription
        /// What people decide when acknowledged records are missing: the new history.
        case newHistory
    }

    private static func step(_ run: inout ReducerRun, _ input: inout FuzzInput) throws {
        let kinds = ReducerStep.allCases
        switch kinds[Int(input.byte()) % kinds.count] {
        case .control:
            let route = Route.router([input.byte()])
            let frame = input.chunk()
            guard let message = try? ToReducer(bytes: frame[...], loop: ReducerRun.loop) else { return }
            try run.turn { $0.receive(message, from: route, by: .unknown) }
        case .batch:
            let frame = input.chunk()
            guard let batch = try? Batch(bytes: frame), batch.loop == ReducerRun.loop else { return }
            try run.turn { $0.receive(batch, by: .unknown) }
        case .wait:
            let units = Int64(input.byte())
            try run.turn(after: 50 * units)
        case .otherVersion:
            let version = input.byte()
            try run.turn { $0.refuse(protocolVersion: version, .router([1])) }
        case .subscription:
            let peer = PeerID(high: 0, low: UInt64(input.byte()))
            try run.turn { $0.noticeSubscription(of: peer) }
        case .newHistory:
            let history = History(UInt64(input.byte()) + 1)
            try run.begin(history)
        }
    }

    /// A conversation with a worker or a sender.
    static let peer = FuzzTarget("peer", budget: AllocationBudget(fixed: 1 << 20, perByte: 4096)) { bytes in
        var input = FuzzInput(bytes)
        var run = input.byte() & 1 == 0 ? PeerRun() : try PeerRun(resuming: &input)
        while !input.isAtEnd { try run.step(&input) }
    }

    /// A conversation with an observer.
    static let observer = FuzzTarget("observer", budget: AllocationBudget(fixed: 1 << 20, perByte: 4096)) { bytes in
        var input = FuzzInput(bytes)
        var run = ObserverRun(flags: input.byte())
        while !input.isAtEnd { try run.step(&input) }
    }
}
