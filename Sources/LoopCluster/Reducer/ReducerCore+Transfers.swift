import LoopCore
import LoopWire

/// States that observers fetch in parts. (Protocol, section 8.)
extension ReducerCore {
    /// How many encoded states are kept at once, of the whole state and of each section; and as many again for those who
    /// follow differences.
    private var transfersMax: Int { 4 }

    /// How many wait at once for a state to be published, or for one to be encoded; more are told to come again.
    private var waitingMax: Int { 1024 }

    /// A part of an encoded state. One encoded state serves all who ask within a second; few are kept at once.
    /// - Parameters:
    ///   - name: of a section; empty: all of the state.
    ///   - interval: of the stream of differences that is followed; nil: none is.
    mutating func answerState(
        _ id: UInt64, offset: UInt64, of name: String, _ interval: UInt32?, _ route: Route
    ) {
        guard let section = section(named: name) else {
            let names = core.loop.sections.map { "\"\($0.name)\"" }.joined(separator: ", ")
            return reply(.refused(Refused(.section, reducer: names, peer: String(name.prefix(256)))), to: route)
        }
        let stream = interval.map { UpdateStream(.delta, of: SectionID(name: name), interval: $0) }
        if let position = transfers.firstIndex(where: { $0.id == id && $0.section == section.index }) {
            return answer(offset, ofTransferAt: position, route)
        }
        let observer = JoiningObserver(section: section.index, stream: stream, route: route)
        // A state that is published only now: every difference after it is to be one that follows from it.
        guard let behind = updates.streams.firstIndex(where: { isBehind($0, stream) }),
            recentTransfer(for: observer) == nil
        else { return begin(observer) }
        guard joining.count < waitingMax else { return refuse(observer) }
        updates.streams[behind].nextAt = .zero
        joining.append(observer)
    }

    /// Whether the next difference on a stream is not to the present state.
    private func isBehind(_ served: ServedStream, _ stream: UpdateStream?) -> Bool {
        served.stream == stream && served.base != nil && served.published?.upperBound != core.seq
    }

    /// Once this turn's updates are published.
    mutating func answerJoining() {
        guard !joining.isEmpty else { return }
        for observer in joining {
            if updates.streams.contains(where: { isBehind($0, observer.stream) }) {
                refuse(observer)
            } else {
                begin(observer)
            }
        }
        joining.removeAll()
    }

    private mutating func refuse(_ observer: JoiningObserver) {
        count(.stateTransferBusy)
        reply(.busy(retryAfter: .seconds(1)), to: observer.route)
    }

    /// Nil: there is no such section.
    private func section(named name: String) -> (index: Int?, Void)? {
        if name.isEmpty { return (nil, ()) }
        guard let index = core.loop.sections.firstIndex(where: { $0.name == name }) else { return nil }
        return (index, ())
    }

    private func served(_ observer: JoiningObserver) -> ServedStream? {
        updates.streams.first { $0.stream == observer.stream && $0.base != nil }
    }

    /// One of the state that is wanted, or of a little before.
    private func recentTransfer(for observer: JoiningObserver) -> Int? {
        let served = served(observer)
        let same = served?.published ?? core.seq...core.seq
        return transfers.lastIndex {
            guard $0.section == observer.section else { return false }
            if same.contains($0.seq) { return true }
            return $0.stream == served?.stream && now.monotonic - $0.madeAt < .seconds(1)
        }
    }

    /// The first part of the present state, which is what the next difference is to, or of a recent one.
    private mutating func begin(_ observer: JoiningObserver) {
        guard let position = recentTransfer(for: observer) ?? beginTransfer(for: observer) else {
            return refuse(observer)
        }
        answer(0, ofTransferAt: position, observer.route)
    }

    private mutating func answer(_ offset: UInt64, ofTransferAt position: Int, _ route: Route) {
        transfers[position].usedAt = now.monotonic
        guard let bytes = transfers[position].bytes else {
            // Who asks again while the state is being encoded is answered once.
            if !transfers[position].waiting.contains(route), transfers[position].waiting.count < waitingMax {
                transfers[position].waiting.append(route)
            }
            return
        }
        let start = min(Int(clamping: offset), bytes.count)
        let end = min(start + configuration.statePartBytes, bytes.count)
        reply(
            .statePart(
                StatePart(
                    transfer: transfers[position].id, seq: transfers[position].seq, total: UInt64(bytes.count),
                    offset: UInt64(start), bytes: Array(bytes[start..<end]))),
            to: route)
    }

    private mutating func beginTransfer(for observer: JoiningObserver) -> Int? {
        let served = served(observer)
        let kept = transfers.count { $0.section == observer.section && ($0.stream == nil) == (served == nil) }
        guard kept < transfersMax else { return nil }
        var transfer = StateTransfer(
            id: transfersCount + 1, section: observer.section, stream: served?.stream, seq: core.seq,
            madeAt: now.monotonic, usedAt: now.monotonic)
        if isLarge(observer.section) {
            transfer.errand = wish(for: .encoding(core.fold.resting, section: observer.section))
        } else {
            guard let bytes = try? core.fold.encodedState(section: observer.section) else { return nil }
            updates.note(size: bytes.count, of: observer.section)
            transfer.bytes = bytes
        }
        transfersCount += 1
        transfers.append(transfer)
        return transfers.count - 1
    }

    /// Whether encoding it would hold up the loop, as far as is known.
    private func isLarge(_ section: Int?) -> Bool { size(of: section) > configuration.hashedBytesMax }

    /// A state is encoded: who has asked for it gets the first part.
    mutating func finishTransfer(_ errand: UInt64, _ bytes: [UInt8]?) {
        guard let position = transfers.firstIndex(where: { $0.errand == errand }) else { return }
        let waiting = transfers[position].waiting
        guard let bytes else {
            let transfer = transfers.remove(at: position)
            for route in waiting {
                refuse(JoiningObserver(section: transfer.section, stream: transfer.stream, route: route))
            }
            return
        }
        updates.note(size: bytes.count, of: transfers[position].section)
        (transfers[position].bytes, transfers[position].waiting) = (bytes, [])
        for route in waiting { answer(0, ofTransferAt: position, route) }
    }
}

/// Who has asked for a state, and waits for it.
struct JoiningObserver: Sendable {
    /// Nil: all of the state.
    let section: Int?
    /// The stream of differences that is followed; nil: none is.
    let stream: UpdateStream?
    let route: Route
}

/// An encoded state that observers fetch in parts, or one that is being encoded.
struct StateTransfer: Sendable {
    let id: UInt64
    /// Nil: all of the state.
    let section: Int?
    /// The stream of differences that it is for; nil: none in particular.
    let stream: UpdateStream?
    let seq: Seq
    /// Nil while another thread encodes it.
    var bytes: [UInt8]?
    var errand: UInt64?
    /// Who is to get the first part when it is encoded.
    var waiting: [Route] = []
    let madeAt: MonotonicTime
    var usedAt: MonotonicTime
}
