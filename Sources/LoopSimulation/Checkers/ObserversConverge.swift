import LoopCluster
import LoopCore
import LoopWire

/// G9: every state that is published or shown is the one that the events up to its seq make. Every transition is shown or reported
/// as missed. When everything has settled, every observer has the newest state. When the loop has ended, every observer has the
/// last state before it learns of the end.
///
/// G2: an observer is first shown one state, and then only later ones. A history that it has left is never shown again. A late
/// observer is no exception: every observer is shown a state. Transitions have their order by G9.
struct ObserversConverge<Work: Workload>: Checker {
    static var promise: Promise { .observersConverge }
    private(set) var checkCount = 0
    /// The number of comparisons for G2.
    private(set) var orderCount = 0

    private let work: Work
    /// Earlier journals, and lost parts of them. Frames about them may still be under way.
    private var gone: [Chronicle<Work.Definition>] = []
    /// The observers by their position among all processes.
    private var observers: [Int: Watching] = [:]
    /// What was published last, because most of it is shown later.
    private var published: (history: History, seq: Seq, section: Int?, bytes: [UInt8]) = (.none, .initial, nil, [])
    private let sections: [StateSection<Work.Definition.State>]

    private struct Watching {
        let watched: SimulationPlan.Watched
        /// The histories that it has shown, the newest last.
        var histories: [History] = []
        var shown: Seq?
        /// The next transition to be shown or missed. Nil allows any.
        var next: Seq?
        /// Whether its knowledge was damaged in its memory, and it has not noticed yet.
        var isDamaged = false
        /// Whether it has shown a state that did not exist, since the damage.
        var isWrong = false
        /// Whether the journal may have lost the state that it last showed, so that the next one may be older.
        var mayStepBack = false
        /// Whether that is so for the next state. A transition does not change it.
        var mayShowEarlier = false
        /// The encoded state that it last showed, and whether the present journal makes it.
        var bytes: [UInt8] = []
        var isProven = false

        var history: History { histories.last ?? .none }

        mutating func beginAnew() {
            shown = nil
            next = nil
        }

        /// The states of an earlier epoch after this seq are lost.
        mutating func stepBack(to seq: Seq) { if mayStepBack, let due = next, seq < due { next = seq } }
    }

    init(_ work: Work) {
        self.work = work
        sections = work.definition.sections
    }

    /// Another journal begins, and this model's is over.
    mutating func begin(_ model: LoopModel<Work>) {
        guard !observers.isEmpty else { return }
        gone.append(model.chronicle)
        published = (.none, .initial, nil, [])
        for peer in observers.keys { observers[peer]?.isProven = false }
    }

    mutating func add(_ peer: Int, _ watched: SimulationPlan.Watched) { observers[peer] = Watching(watched: watched) }
    mutating func remove(_ peer: Int) { observers[peer] = nil }
    mutating func damage(_ peer: Int) { observers[peer]?.isDamaged = true }
    mutating func repair(_ peer: Int) { observers[peer]?.isDamaged = false }
    mutating func beginAnew(_ peer: Int) { observers[peer]?.beginAnew() }
    mutating func beginEpoch(_ peer: Int) {
        observers[peer]?.mayStepBack = true
        observers[peer]?.mayShowEarlier = true
    }

    // MARK: What the reducer publishes

    /// A frame leaves the reducer.
    mutating func check(_ message: Outbound, _ model: LoopModel<Work>) throws(Violation) {
        guard case .publish(let topic, let frame) = message else { return }
        let section = section(of: topic)
        switch frame.message {
        case .update(let seq, let bytes):
            checkCount += 1
            guard seq <= model.seq, isState(bytes, at: seq, section, in: model.chronicle) else {
                throw Violation(.observersConverge, "the state published at \(seq) did not exist")
            }
            published = (frame.history, seq, section, bytes)
        case .stateHash(let seq, let hash): try check(hash, at: seq, section, model)
        case .delta(let delta): if let hash = delta.hash { try check(hash, at: delta.seq, section, model) }
        case .unchanged(let seqs):
            checkCount += 1
            let ends = [seqs.lowerBound, seqs.upperBound].map { bytes(section, at: $0, in: model.chronicle) }
            guard seqs.upperBound <= model.seq, ends[0] == ends[1] else {
                throw Violation(.observersConverge, "what is said to be unchanged at \(seqs) has changed")
            }
        case .transitions(let notes):
            for note in notes {
                checkCount += 1
                guard Self.tells(note, of: model.chronicle) else {
                    throw Violation(.observersConverge, "the transition published at \(note.seq) is not the journal's")
                }
            }
        case .introduction, .joinAccepted, .commands, .acknowledgement, .tick, .assignments, .outcomes, .busy,
            .statePart, .status, .ended, .refused, .serverHeartbeat, .answer, .goodbyeHeard, .refusalDetails, .redirect,
            .noLeader:
            break
        }
    }

    private mutating func check(
        _ hash: UInt64, at seq: Seq, _ section: Int?, _ model: LoopModel<Work>
    ) throws(Violation) {
        checkCount += 1
        guard seq <= model.seq, let bytes = bytes(section, at: seq, in: model.chronicle),
            StableHash.fnv1a(bytes) == hash
        else { throw Violation(.observersConverge, "the hash published at \(seq) is of another state") }
    }

    /// The position of the section that a topic names, or nil for the whole state.
    private func section(of topic: Topic) -> Int? {
        guard case .updates(_, let stream) = topic else { return nil }
        return sections.firstIndex { SectionID(name: $0.name) == stream.section }
    }

    /// The encoded state at a seq, or a section of it, or nil if there was none.
    private func bytes(_ section: Int?, at seq: Seq, in chronicle: Chronicle<Work.Definition>) -> [UInt8]? {
        guard let state = chronicle.state(at: seq) else { return nil }
        guard let section else { return try? work.coder.encode(state) }
        return sections[section].reading.bytes(in: state, work.coder)
    }

    private func isState(
        _ bytes: [UInt8], at seq: Seq, _ section: Int?, in chronicle: Chronicle<Work.Definition>
    ) -> Bool {
        if let section { return self.bytes(section, at: seq, in: chronicle) == bytes }
        guard let state = chronicle.state(at: seq) else { return false }
        guard let shown = try? work.coder.decode(Work.Definition.State.self, from: bytes) else { return false }
        return work.areEqual(shown, state)
    }

    private static func tells(_ note: TransitionNote, of chronicle: Chronicle<Work.Definition>) -> Bool {
        guard let record = chronicle.record(at: note.seq) else { return false }
        return note.event[...] == record.bytes && note.time == record.time && note.session == record.session
            && note.effect == record.effect
    }

    // MARK: What an observer shows

    mutating func show(
        _ action: ObserverAction, _ history: History, _ peer: Int, _ model: LoopModel<Work>
    ) throws(Violation) {
        guard var watching = observers[peer] else { return }
        defer { observers[peer] = watching }
        if watching.history != history {
            if watching.histories.contains(history), history != model.chronicle.histories.last {
                throw Violation(.snapshotComesFirst, "observer \(peer) goes back to \(history), which it had left")
            }
            watching.histories.append(history)
            watching.beginAnew()
        }
        switch action {
        case .state(let seq, let bytes):
            checkCount += 1
            let earlier = watching.shown
            watching.shown = seq
            try check(bytes, at: seq, &watching, peer, model)
            orderCount += 1
            if let earlier, seq <= earlier, !watching.mayShowEarlier {
                throw Violation(
                    .snapshotComesFirst, "observer \(peer) shows the state at \(seq) after the one at \(earlier)")
            }
            watching.mayShowEarlier = false
        // The state that was shown at this seq was wrong, and the observer has noticed.
        case .again(let seq, let bytes):
            try check(bytes, at: seq, &watching, peer, model)
            orderCount += 1
            if watching.shown != seq {
                throw Violation(
                    .snapshotComesFirst, "observer \(peer) shows the state at \(seq) again, which it did not")
            }
        case .transitions(let notes):
            if let first = notes.first { watching.stepBack(to: first.seq) }
            watching.mayStepBack = false
            for note in notes {
                checkCount += 1
                try demand(watching.next ?? note.seq, is: note.seq, "shows transition", peer)
                watching.next = note.seq.next
                if !someChronicle(of: history, model, { Self.tells(note, of: $0) }) {
                    throw Violation(
                        .observersConverge, "observer \(peer) shows a transition \(note.seq) that was another")
                }
            }
        case .missed(let seqs):
            checkCount += 1
            watching.stepBack(to: seqs.lowerBound)
            guard let next = watching.next else {
                throw Violation(.observersConverge, "observer \(peer) has missed \(seqs) before it was shown any")
            }
            try demand(next, is: seqs.lowerBound, "has missed", peer)
            watching.next = seqs.upperBound.next
        case .begins, .send, .ended, .refused, .standing, .chunk, .assembled, .delta, .hash: break
        }
    }

    private func check(
        _ bytes: [UInt8], at seq: Seq, _ watching: inout Watching, _ peer: Int, _ model: LoopModel<Work>
    ) throws(Violation) {
        let (section, history) = (watching.watched.section, watching.history)
        (watching.isWrong, watching.bytes) = (false, bytes)
        watching.isProven = isState(bytes, at: seq, of: history, section, model)
        let wasState = gone.contains { $0.histories.contains(history) && isState(bytes, at: seq, section, in: $0) }
        if watching.isProven || wasState { return }
        watching.isWrong = true
        if !watching.isDamaged {
            throw Violation(.observersConverge, "observer \(peer) shows a state at \(seq) that did not exist")
        }
    }

    private func isState(
        _ bytes: [UInt8], at seq: Seq, of history: History, _ section: Int?, _ model: LoopModel<Work>
    ) -> Bool {
        published == (history, seq, section, bytes)
            || model.chronicle.histories.contains(history) && isState(bytes, at: seq, section, in: model.chronicle)
    }

    private func demand(_ next: Seq, is seq: Seq, _ what: String, _ peer: Int) throws(Violation) {
        if next != seq {
            throw Violation(.observersConverge, "observer \(peer) \(what) \(seq), and \(next) is the next")
        }
    }

    /// Whether `holds` is true of a journal with this history. The newest journal is checked first.
    private func someChronicle(
        of history: History, _ model: LoopModel<Work>, _ holds: (Chronicle<Work.Definition>) -> Bool
    ) -> Bool {
        if model.chronicle.histories.contains(history), holds(model.chronicle) { return true }
        for chronicle in gone.reversed() where chronicle.histories.contains(history) && holds(chronicle) { return true }
        return false
    }

    // MARK: When all has settled

    /// What an observer lacks, or nil if it lacks nothing.
    func lacks(_ peer: Int, _ model: LoopModel<Work>) -> String? {
        guard let watching = observers[peer], watching.watched.includesStates else { return nil }
        let history = model.chronicle.histories[model.chronicle.histories.count - 1]
        guard watching.history == history, let shown = watching.shown else {
            return "shows nothing of the newest history"
        }
        if !watching.isProven, !isState(watching.bytes, at: shown, of: history, watching.watched.section, model) {
            return "shows a state at \(shown) that the journal has lost"
        }
        if watching.isWrong { return "shows a wrong state at \(shown)" }
        if let section = watching.watched.section,
            bytes(section, at: shown, in: model.chronicle) == bytes(section, at: model.seq, in: model.chronicle)
        {
            return nil
        }
        return shown == model.seq ? nil : "shows the state at \(shown), and \(model.seq) is the newest"
    }

    /// An observer learns of an end.
    mutating func demandLast(
        _ history: History, _ seq: Seq, _ peer: Int, _ model: LoopModel<Work>
    ) throws(Violation) {
        guard let watching = observers[peer], watching.watched.includesStates else { return }
        checkCount += 1
        let shown = watching.history == history ? watching.shown : nil
        // An observer of a section may have received that it has not changed since, and the newest state is compared with that. If
        // its memory is damaged, the next hash shows it, but none may come.
        let isTheNewest = model.outcome != nil && model.seq == seq && model.chronicle.histories.last == history
        let lack = isTheNewest && !watching.isDamaged ? lacks(peer, model) : nil
        guard lack != nil || watching.watched.section == nil && shown ?? .initial < seq else {
            return try demandState(peer)
        }
        let place = shown.map { "at \($0)" } ?? "without a state"
        throw Violation(
            .observersConverge, "observer \(peer), \(place), hears of the end, which is at \(seq)")
    }

    /// Every observer has come to the newest state.
    mutating func settle(_ model: LoopModel<Work>) throws(Violation) {
        for peer in observers.keys.sorted() {
            checkCount += 1
            if let lack = lacks(peer, model) {
                throw Violation(.observersConverge, "observer \(peer) \(lack)")
            }
            try demandState(peer)
        }
    }

    /// Checks that an observer was shown a state by now.
    private mutating func demandState(_ peer: Int) throws(Violation) {
        guard let watching = observers[peer], watching.watched.includesStates else { return }
        orderCount += 1
        if watching.shown == nil { throw Violation(.snapshotComesFirst, "observer \(peer) shows no state") }
    }
}

extension SectionReading {
    fileprivate func bytes(in state: State, _ coder: any ValueCoder) -> [UInt8]? { try? coder.encode(value(in: state)) }
}
