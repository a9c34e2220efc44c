import LoopCore
public import LoopWire

/// Streams of updates: what a topic names is what somebody follows, and nothing is made for a stream that nobody follows.
/// (Protocol, section 8.)
extension ReducerCore {
    /// Who listens besides the workers, as of this turn.
    public mutating func follow(_ new: Subscriptions) {
        guard new != subscriptions else { return }
        if subscriptions.hasEvents && !new.hasEvents { updates.ringEnds = now.monotonic + .seconds(10) }
        if !subscriptions.hasEvents && new.hasEvents { updates.eventsHashedAt = core.seq }
        var served: [ServedStream] = []
        for stream in new.streams {
            guard let section = section(of: stream.section) else { continue }
            guard served.count < configuration.updateStreamsMax else {
                if !subscriptions.streams.contains(stream) { count(.updateStreamsFull) }
                continue
            }
            served.append(
                updates.streams.first { $0.stream == stream } ?? ServedStream(stream, section: section.index))
        }
        updates.streams = served
        subscriptions = new
        updates.keepsNotes = new.hasTransitions || keepsRing
    }

    /// Nil: there is no such section.
    private func section(of id: SectionID) -> (index: Int?, Void)? {
        if id == .whole { return (nil, ()) }
        guard let index = core.loop.sections.firstIndex(where: { $0.id == id }) else { return nil }
        return (index, ())
    }

    /// A new subscriber to a stream of whole states waits for no change: this turn publishes the state as it is.
    public mutating func publishAgain(_ stream: UpdateStream) {
        guard stream.mode == .full, let index = updates.streams.firstIndex(where: { $0.stream == stream }) else {
            return
        }
        updates.streams[index].published = nil
        updates.streams[index].content = nil
    }

    mutating func publishUpdates() {
        guard !updates.streams.isEmpty else { return }
        var encoded = EncodedUpdates()
        for index in updates.streams.indices {
            var served = updates.streams[index]
            if served.published?.upperBound != core.seq, now.monotonic >= served.nextAt || isGrowing(served) {
                switch served.stream.mode {
                case .full: publishWhole(&served, &encoded)
                case .delta: publishDelta(&served, &encoded)
                }
            }
            // A tick has told of a newer seq: nobody is to fetch for it what has not changed.
            // And who has lost the newest change is to find out.
            if served.mustTell, let same = served.published, same.upperBound >= updates.announced {
                publish(.unchanged(same), on: topic(of: served))
                served.mustTell = false
            }
            updates.streams[index] = served
        }
    }

    /// Whether the next delta would not fit into a message, were it to wait for its time. Where the observers' own interval
    /// does not say otherwise it leaves earlier, as long as most of it is what events have changed.
    private func isGrowing(_ served: ServedStream) -> Bool {
        guard served.stream.mode == .delta, served.stream.interval == 0, let base = served.base,
            let published = served.published
        else { return false }
        let limit = configuration.stateBytesMax / 2 - base.byteCount
        let eventsCount = min(core.seq.value - published.upperBound.value, 1 << 30)
        let changed = Int(eventsCount) * min(served.bytesPerEvent, 1 << 30)
        return limit > 0 && changed > max(limit, base.byteCount)
    }

    private func topic(of served: ServedStream) -> Topic { .updates(core.loop.id, served.stream) }

    /// What was encoded leaves, or is only announced, where one message cannot hold it: observers fetch it in parts.
    private mutating func publish(_ message: ToPeer, _ byteCount: Int, _ served: inout ServedStream) {
        served.publishes(core.seq)
        if byteCount <= configuration.stateBytesMax {
            publish(message, on: topic(of: served))
        } else {
            publish(.serverHeartbeat(core.seq), on: .tick(core.loop.id))
        }
    }

    /// A large state costs more to encode: it is published less often.
    private mutating func wait(_ served: inout ServedStream, after byteCount: Int) {
        let own = Duration.milliseconds(served.stream.interval)
        let interval = max(own, .seconds(1 / configuration.updatesPerSecond))
        served.nextAt = now.monotonic + interval * max(1, byteCount / (128 << 10))
    }

    private mutating func publishWhole(_ served: inout ServedStream, _ encoded: inout EncodedUpdates) {
        guard let bytes = state(served.section, &encoded) else { return }
        wait(&served, after: bytes.count)
        if served.section != nil {
            let content = StableHash.quick(bytes)
            if served.published != nil, served.content == content { return served.stays(through: core.seq) }
            served.content = content
        }
        publish(.update(core.seq, state: bytes), bytes.count, &served)
    }

    private mutating func publishDelta(_ served: inout ServedStream, _ encoded: inout EncodedUpdates) {
        guard let base = served.base, let since = served.published else {
            // Who has an older state than the one that deltas are to from here on fetches it.
            wait(&served, after: 0)
            served.publishes(core.seq)
            rebase(&served)
            served.hashedAt = core.seq
            return publish(.unchanged(core.seq...core.seq), on: topic(of: served))
        }
        guard let bytes = delta(to: base, since, served.section, &encoded) else { return }
        let eventsCount = Int(clamping: core.seq.value - since.upperBound.value)
        served.bytesPerEvent = max(0, bytes.count - base.byteCount) / max(1, eventsCount)
        // It costs what has changed, whenever it is made: later it would be larger.
        wait(&served, after: 0)
        if served.section != nil, served.nothing == bytes { return served.stays(through: core.seq) }
        let hash = isHashDue(since: served.hashedAt, of: served.section) ? hash(of: served.section, &encoded) : nil
        if let hash {
            served.hash = (core.seq, hash)
            served.hashedAt = core.seq
        }
        publish(
            .delta(StateDelta(base: since, seq: core.seq, hash: hash, bytes: bytes)), bytes.count, &served)
        // The base is what was published, however many states there were in between.
        rebase(&served)
    }

    /// The next delta is to the state as it is now.
    private mutating func rebase(_ served: inout ServedStream) {
        served.base = try? core.fold.base(section: served.section)
        served.nothing = nil
        if served.section != nil, let base = served.base {
            served.nothing = try? core.fold.delta(since: base, section: served.section)
        }
    }

    // MARK: What streams share

    private mutating func state(_ section: Int?, _ encoded: inout EncodedUpdates) -> [UInt8]? {
        if let bytes = encoded.states[section] { return bytes }
        guard let bytes = try? core.fold.encodedState(section: section) else { return nil }
        updates.note(size: bytes.count, of: section)
        encoded.states[section] = bytes
        return bytes
    }

    private func delta(
        to base: DeltaBase, _ since: ClosedRange<Seq>, _ section: Int?, _ encoded: inout EncodedUpdates
    ) -> [UInt8]? {
        let key = EncodedUpdates.DeltaKey(section: section, from: since.lowerBound, through: since.upperBound)
        if let bytes = encoded.deltas[key] { return bytes }
        guard let bytes = try? core.fold.delta(since: base, section: section) else { return nil }
        encoded.deltas[key] = bytes
        return bytes
    }

    // MARK: Hashes

    /// How large the state, or a section of it, is as far as is known; a section that was never encoded may be all of it.
    func size(of section: Int?) -> Int {
        let size = updates.size(of: section)
        return section == nil || size == 0 ? max(size, core.digestedBytes) : size
    }

    /// Encoding and hashing cost 5 to 8 ns for each byte: 16 bytes for each event are about 100 ns, for all streams together.
    private func isHashDue(since seq: Seq, of section: Int?) -> Bool {
        let interval = max(16, size(of: section) / 16) * updates.hashersCount
        return core.seq.value - seq.value >= UInt64(interval)
    }

    private mutating func hash(of section: Int?, _ encoded: inout EncodedUpdates) -> UInt64? {
        if let hash = encoded.hashes[section] { return hash }
        guard let bytes = state(section, &encoded) else { return nil }
        let hash = StableHash.fnv1a(bytes)
        encoded.hashes[section] = hash
        return hash
    }

    /// The size up to which a state is hashed at a tick, however few events there were: some milliseconds at most.
    private var hashedBytesMax: Int { 256 << 10 }

    /// One that is being encoded elsewhere is not small, whatever it was when it was known last.
    private func isSmall(_ section: Int?) -> Bool {
        size(of: section) <= hashedBytesMax && !transfers.contains { $0.section == section && !$0.isComplete }
    }

    /// With a tick: the newest hash once more, for who has missed it; and where a loop has come to rest, that of its state.
    mutating func publishHashes() {
        var encoded = EncodedUpdates()
        for index in updates.streams.indices where updates.streams[index].stream.mode == .delta {
            guard let same = updates.streams[index].published else { continue }
            let section = updates.streams[index].section
            if same.upperBound == core.seq, updates.streams[index].hash.map({ !same.contains($0.seq) }) ?? true,
                isSmall(section), let hash = hash(of: section, &encoded)
            {
                updates.streams[index].hash = (core.seq, hash)
                updates.streams[index].hashedAt = core.seq
            }
            if let hash = updates.streams[index].hash, same.contains(hash.seq) {
                publish(.stateHash(hash.seq, hash.value), on: topic(of: updates.streams[index]))
            }
        }
        publishEventHash(&encoded)
    }

    private mutating func publishEventHash(_ encoded: inout EncodedUpdates) {
        guard subscriptions.hasEvents, notes.isEmpty else { return }
        if updates.eventHash?.seq != core.seq, isSmall(nil),
            let hash = hash(of: nil, &encoded)
        {
            updates.eventHash = (core.seq, hash)
            updates.eventsHashedAt = core.seq
        }
        if let hash = updates.eventHash, hash.seq == core.seq {
            publish(.stateHash(hash.seq, hash.value), on: eventTopic)
        }
    }

    // MARK: Events

    private var eventTopic: Topic { .events(core.loop.id, fingerprint: fingerprint.value) }

    private var keepsRing: Bool { subscriptions.hasEvents || now.monotonic < updates.ringEnds }

    mutating func note(_ record: EventRecord) {
        notes.append(
            TransitionNote(
                seq: record.seq, time: record.time, session: record.session, effect: record.effect,
                event: Array(record.bytes)))
    }

    mutating func publishTransitions() {
        guard !notes.isEmpty else { return }
        if subscriptions.hasTransitions { publish(notes, on: .transitions(core.loop.id)) }
        if keepsRing {
            updates.ring.append(notes, bytesMax: configuration.transitionBytesMax)
        } else {
            updates.ring.removeAll()
            updates.keepsNotes = subscriptions.hasTransitions
        }
        if subscriptions.hasEvents {
            publish(notes, on: eventTopic)
            if isHashDue(since: updates.eventsHashedAt, of: nil) {
                var encoded = EncodedUpdates()
                if let hash = hash(of: nil, &encoded) {
                    updates.eventHash = (core.seq, hash)
                    updates.eventsHashedAt = core.seq
                    publish(.stateHash(core.seq, hash), on: eventTopic)
                }
            }
        }
        notes.removeAll(keepingCapacity: true)
    }

    private mutating func publish(_ notes: [TransitionNote], on topic: Topic) {
        var chunk: [TransitionNote] = []
        var bytes = 0
        for note in notes {
            if bytes + note.byteCount > Wire.messageBytesMax / 2, !chunk.isEmpty {
                publish(.transitions(chunk), on: topic)
                chunk = []
                bytes = 0
            }
            chunk.append(note)
            bytes += note.byteCount
        }
        publish(.transitions(chunk), on: topic)
    }

    /// What somebody who follows the events has missed; nothing where it is no longer at hand.
    mutating func answerTransitions(_ fingerprint: UInt64, after seq: Seq, _ route: Route) {
        guard fingerprint == self.fingerprint.value else {
            count(.joinRefused)
            return reply(
                .refused(
                    Refused(
                        .definition, reducer: hexadecimal(self.fingerprint.value), peer: hexadecimal(fingerprint))),
                to: route)
        }
        reply(.transitions(Array(updates.ring.notes(after: seq, bytesMax: Wire.messageBytesMax / 2))), to: route)
    }
}
