import CBOR
import LoopCore
import LoopWire

/// The parts of a snapshot's body, each as `JournaledState.snapshot` describes it.
extension JournaledState {
    // MARK: Epochs

    func writeEpochs(to writer: inout ByteWriter) {
        writer.u32(UInt32(epochs.count))
        for epoch in epochs { writer.epoch(epoch) }
    }

    mutating func readEpochs(from reader: inout ByteReader) throws(WireError) {
        epochs = []
        for _ in 0..<(try reader.count(bytesEach: 16)) { epochs.append(try reader.epoch()) }
    }

    // MARK: Feedbacks and the memory of their queries

    func writeFeedbacks(to writer: inout ByteWriter) {
        writer.strings(table.names)
        writer.u32(startsCount)
    }

    /// - Returns: the names by number.
    mutating func readFeedbacks(from reader: inout ByteReader) throws(WireError) -> [String] {
        let names = try reader.strings()
        startsCount = try reader.u32()
        return names
    }

    func writeMemories(to writer: inout ByteWriter) throws {
        let memories = try foreign ?? loopState.memories()
        writer.u32(UInt32(memories.count))
        for (number, memory) in memories.sorted(by: { $0.key < $1.key }) {
            writer.u32(number)
            memory.write(to: &writer)
        }
    }

    func readMemories(from reader: inout ByteReader) throws(WireError) -> [UInt32: QueryMemory] {
        var memories: [UInt32: QueryMemory] = [:]
        for _ in 0..<(try reader.count(bytesEach: 5)) {
            let number = try reader.u32()
            memories[number] = try QueryMemory(from: &reader)
        }
        return memories
    }

    // MARK: Live effects

    func writeEffects(to writer: inout ByteWriter) {
        writer.u32(UInt32(effects.count))
        for (id, effect) in effects.sorted(by: { $0.key < $1.key }) {
            writer.effect(id)
            effect.write(to: &writer)
        }
    }

    mutating func readEffects(from reader: inout ByteReader) throws(WireError) {
        let count = try reader.count(bytesEach: LiveEffect.bytesMin + 16)
        for _ in 0..<count {
            let id = try reader.effect()
            effects[id] = try LiveEffect(from: &reader)
        }
    }

    // MARK: Sessions

    func writeSessions(to writer: inout ByteWriter, withNotable: Bool) {
        writer.u64(nextSession.value)
        writer.u32(UInt32(sessions.count))
        for (id, session) in sessions.sorted(by: { $0.key < $1.key }) {
            writer.u64(id.value)
            writer.peer(session.peer)
            writer.u8(sessionByPeer[session.peer] == id ? 1 : 0)
            writer.u64(session.watermark)
            if withNotable { writer.outcomes(session.notable) }
        }
    }

    mutating func readSessions(from reader: inout ByteReader) throws(WireError) {
        nextSession = SessionID(try reader.u64())
        for _ in 0..<(try reader.count(bytesEach: 37)) {
            let id = SessionID(try reader.u64())
            var session = SessionRecord(peer: try reader.peer())
            guard sessions[id] == nil else {
                throw .malformed(what: "session \(id) for the second time", offset: reader.position)
            }
            if try reader.flag() {
                guard sessionByPeer[session.peer] == nil else {
                    throw .malformed(what: "another present session of a peer", offset: reader.position)
                }
                sessionByPeer[session.peer] = id
            } else {
                olderSessions[session.peer, default: []].append(id)
            }
            session.watermark = try reader.u64()
            session.notable = try reader.outcomes()
            sessions[id] = session
        }
    }

    /// Writes the sessions that have no record in the present epoch.
    func writeIdleTimes(to writer: inout ByteWriter) {
        let idle = sessions.filter { $0.value.idleSince != nil }.sorted { $0.key < $1.key }
        writer.u32(UInt32(idle.count))
        for (id, session) in idle {
            writer.u64(id.value)
            writer.u64(UInt64(bitPattern: session.idleSince?.milliseconds ?? 0))
        }
    }

    mutating func readIdleTimes(from reader: inout ByteReader) throws(WireError) {
        for _ in 0..<(try reader.count(bytesEach: 16)) {
            let id = SessionID(try reader.u64())
            sessions[id]?.idleSince = WallTime(milliseconds: Int64(bitPattern: try reader.u64()))
        }
    }

    /// Writes the sessions that had an entry that belonged to no effect.
    func writeSenders(to writer: inout ByteWriter) {
        let senders = sessions.filter { !$0.value.isOnlyOfEffects }.keys.sorted()
        writer.u32(UInt32(senders.count))
        for id in senders { writer.u64(id.value) }
    }

    mutating func readSenders(from reader: inout ByteReader) throws(WireError) {
        for _ in 0..<(try reader.count(bytesEach: 8)) {
            sessions[SessionID(try reader.u64())]?.isOnlyOfEffects = false
        }
    }

    /// Writes the sessions that belong to a key.
    func writeOwners(to writer: inout ByteWriter) {
        let owned = sessions.compactMap { id, session in session.owner.map { (id, $0) } }.sorted { $0.0 < $1.0 }
        writer.u32(UInt32(owned.count))
        for (id, owner) in owned {
            writer.u64(id.value)
            writer.append(bytes: owner.bytes)
        }
    }

    mutating func readOwners(from reader: inout ByteReader) throws(WireError) {
        for _ in 0..<(try reader.count(bytesEach: 40)) {
            let id = SessionID(try reader.u64())
            let owner = try reader.publicKey()
            guard sessions[id] != nil else { throw .malformed(what: "owner of no session", offset: reader.position) }
            sessions[id]?.owner = owner
        }
    }

    // MARK: Schedules

    func writeSchedules(to writer: inout ByteWriter) {
        writer.u32(UInt32(schedules.count))
        for (number, standing) in schedules.sorted(by: { $0.key < $1.key }) {
            writer.u32(number)
            writer.u64(UInt64(bitPattern: standing.next.milliseconds))
            writer.u8(standing.last == nil ? 0 : 1)
            writer.u64(UInt64(bitPattern: standing.last?.milliseconds ?? 0))
            writer.u8(standing.isPaused ? 1 : 0)
            writer.u64(standing.plan)
        }
    }

    mutating func readSchedules(from reader: inout ByteReader) throws(WireError) {
        for _ in 0..<(try reader.count(bytesEach: 30)) {
            let number = try reader.u32()
            let next = WallTime(milliseconds: Int64(bitPattern: try reader.u64()))
            let hasRun = try reader.flag()
            let last = WallTime(milliseconds: Int64(bitPattern: try reader.u64()))
            schedules[number] = ScheduleStanding(
                next: next, last: hasRun ? last : nil, isPaused: try reader.flag(), plan: try reader.u64())
        }
    }

    // MARK: Traces

    func writeTraces(to writer: inout ByteWriter) {
        writer.u32(UInt32(traces.count))
        for (id, trace) in traces.sorted(by: { $0.key < $1.key }) {
            writer.effect(id)
            writer.trace(trace)
        }
    }

    mutating func readTraces(from reader: inout ByteReader) throws(WireError) {
        for _ in 0..<(try reader.count(bytesEach: 16 + TraceContext.byteCount)) {
            let id = try reader.effect()
            guard effects[id] != nil else { throw .malformed(what: "a trace of no effect", offset: reader.position) }
            traces[id] = try reader.trace()
        }
    }

    // MARK: Entries that were set aside

    func writeQuarantine(to writer: inout ByteWriter) {
        writer.u64(quarantinedCount)
        writer.u32(UInt32(quarantine.count))
        for (_, record) in quarantine.sorted(by: { $0.key < $1.key }) { record.writeToSnapshot(&writer) }
    }

    mutating func readQuarantine(from reader: inout ByteReader) throws(WireError) {
        quarantinedCount = try reader.u64()
        for _ in 0..<(try reader.count(bytesEach: 58)) {
            let record = try QuarantineRecord(fromSnapshot: &reader)
            quarantine[record.id] = record
        }
    }
}

extension LiveEffect {
    /// The least number of bytes that an effect takes.
    static var bytesMin: Int { 8 + 1 + 4 + 1 + 16 + 4 + 1 }

    // These flags are in the byte of the status.
    private static var grantedFlag: UInt8 { 128 }
    private static var heldFlag: UInt8 { 64 }

    func write(to writer: inout ByteWriter) {
        writer.u64(version.value)
        writer.u8(group == nil ? 0 : 1)
        if let group { writer.string(group) }
        writer.prefixed(request[...])
        let granted = (wasGranted ? Self.grantedFlag : 0) | (mayBeHeld ? Self.heldFlag : 0)
        switch status {
        case .open: writer.u8(1 | granted)
        case .completed: writer.u8(2 | granted)
        case .parked(let message):
            writer.u8(3 | granted)
            writer.string(message)
        }
        writer.attempt(floor)
        writer.u32(failures)
        writer.u8(retry == nil ? 0 : 1)
        if let retry {
            writer.u64(UInt64(bitPattern: retry.notBefore.milliseconds))
            writer.u64(UInt64(retry.wait))
        }
    }

    init(from reader: inout ByteReader) throws(WireError) {
        let version = Seq(try reader.u64())
        guard JournaledNumber.isReachable(version.value) else {
            throw .malformed(what: "a request of seq \(version)", offset: reader.position)
        }
        let group = try reader.flag() ? try reader.string() : nil
        self.init(request: Array(try reader.prefixed()), version: version, group: group, floor: .none)
        let code = try reader.u8()
        wasGranted = code & Self.grantedFlag != 0
        mayBeHeld = code & Self.heldFlag != 0
        switch code & (Self.heldFlag - 1) {
        case 1: status = .open
        case 2: status = .completed
        case 3: status = .parked(try reader.string())
        default: throw .malformed(what: "an effect's status \(code)", offset: reader.position)
        }
        floor = try reader.attempt()
        failures = try reader.u32()
        guard try reader.flag() else { return }
        let time = WallTime(milliseconds: Int64(bitPattern: try reader.u64()))
        retry = try RetryTime(notBefore: time, milliseconds: try reader.u64(), offset: reader.position)
    }
}

extension QuarantineRecord {
    func writeToSnapshot(_ writer: inout ByteWriter) {
        writer.u64(id)
        writer.u64(UInt64(bitPattern: time.milliseconds))
        writer.u64(session.value)
        writer.u64(number)
        writer.u8(effect == nil ? 0 : 1)
        if let effect { writer.effect(effect) }
        writer.attempt(attempt)
        writer.u8(phase.rawValue)
        writer.u32(crashes)
        writer.prefixed(bytes)
    }

    init(fromSnapshot reader: inout ByteReader) throws(WireError) {
        let id = try reader.u64()
        let time = WallTime(milliseconds: Int64(bitPattern: try reader.u64()))
        let session = SessionID(try reader.u64())
        let number = try reader.u64()
        let effect = try reader.flag() ? try reader.effect() : nil
        let attempt = try reader.attempt()
        let code = try reader.u8()
        guard let phase = Phase(rawValue: code) else {
            throw .malformed(what: "a phase \(code)", offset: reader.position)
        }
        self.init(
            id: id, time: time, session: session, number: number, effect: effect, attempt: attempt, phase: phase,
            crashes: try reader.u32(), bytes: try reader.prefixed())
    }
}

/// The memory of queries as bytes.
///
/// | bytes | field |
/// |---|---|
/// | 1 | what: 0 no effect, 1 one effect, 2 one for each key, 3 no part, 4 a part |
/// | 4 + n, 16 | of 1: the request; the effect |
/// | 4, (4 + n, 16)… | of 2: a count, then keys and effects, by effect |
/// | … | of 4: what the part's query remembers |
extension QueryMemory {
    func write(to writer: inout ByteWriter) {
        switch self {
        case .single(nil): writer.u8(0)
        case .single(let one?):
            writer.u8(1)
            one.write(to: &writer)
        case .keyed(let all):
            writer.u8(2)
            writer.u32(UInt32(all.count))
            for one in all { one.write(to: &writer) }
        case .part(nil): writer.u8(3)
        case .part(let base?):
            writer.u8(4)
            base.write(to: &writer)
        }
    }

    /// - Parameter depth: how many parts within parts may follow.
    init(from reader: inout ByteReader, depth: Int = 64) throws(WireError) {
        let kind = try reader.u8()
        switch kind {
        case 0: self = .single(nil)
        case 1: self = .single(try Remembered(from: &reader))
        case 2:
            var all: [Remembered] = []
            let count = try reader.count(bytesEach: 20)
            all.reserveCapacity(count)
            for _ in 0..<count { all.append(try Remembered(from: &reader)) }
            self = .keyed(all)
        case 3: self = .part(nil)
        case 4:
            guard depth > 0 else { throw .tooDeep(limit: 64, offset: reader.position) }
            self = .part(try QueryMemory(from: &reader, depth: depth - 1))
        default: throw .malformed(what: "a memory of kind \(kind)", offset: reader.position)
        }
    }
}

extension QueryMemory.Remembered {
    func write(to writer: inout ByteWriter) {
        writer.prefixed(bytes[...])
        writer.effect(id)
    }

    init(from reader: inout ByteReader) throws(WireError) {
        self.init(bytes: Array(try reader.prefixed()), id: try reader.effect())
    }
}
