import LoopCore
import LoopWire

/// States that observers fetch in parts. (Protocol, section 8.)
extension ReducerCore {
    private var transfersMax: Int { breaks(.transfersAreBounded) ? .max : configuration.transfersMax }

    /// How many wait at once for a state to be published, or for one to be encoded; more are told to come again.
    private var waitingMax: Int { 1024 }

    /// A part of an encoded state. One encoded state serves all who ask within a second; few are kept at once.
    /// - Parameters:
    ///   - name: of a section; empty: all of the state.
    ///   - interval: of the stream of deltas that is followed; nil: none is.
    mutating func answerState(
        _ id: UInt64, _ part: UInt64, _ form: StateForm, of name: String, _ interval: UInt32?, _ route: Route
    ) {
        guard let section = section(named: name) else {
            let names = core.loop.sections.map { "\"\($0.name)\"" }.joined(separator: ", ")
            return reply(.refused(Refused(.section, reducer: names, peer: String(name.prefix(256)))), to: route)
        }
        let stream = interval.map { UpdateStream(.delta, of: SectionID(name: name), interval: $0) }
        if let position = transfers.firstIndex(where: { $0.id == id && $0.section == section.index }) {
            return answer(part, ofTransferAt: position, route)
        }
        let observer = JoiningObserver(section: section.index, form: form, stream: stream, route: route)
        // A state that is published only now: every delta after it is to be one that follows from it.
        guard let behind = updates.streams.firstIndex(where: { isBehind($0, stream) }),
            recentTransfer(for: observer) == nil
        else { return begin(observer) }
        guard joining.count < waitingMax else { return refuse(observer) }
        updates.streams[behind].nextAt = .zero
        joining.append(observer)
    }

    /// Whether the next delta on a stream is not to the present state.
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
            guard $0.section == observer.section, $0.form == observer.form else { return false }
            if same.contains($0.seq) { return true }
            return $0.stream == served?.stream && now.monotonic - $0.madeAt < .seconds(1)
        }
    }

    /// The first part of the present state, which is what the next delta is to, or of a recent one.
    private mutating func begin(_ observer: JoiningObserver) {
        guard let position = recentTransfer(for: observer) ?? beginTransfer(for: observer) else {
            return refuse(observer)
        }
        answer(0, ofTransferAt: position, observer.route)
    }

    private mutating func answer(_ part: UInt64, ofTransferAt position: Int, _ route: Route) {
        transfers[position].usedAt = now.monotonic
        if let part = transfers[position].part(part) {
            reply(.statePart(part), to: route)
        } else {
            transfers[position].wait(for: part, route, atMost: waitingMax)
        }
    }

    private mutating func beginTransfer(for observer: JoiningObserver) -> Int? {
        let served = served(observer)
        let kept = transfers.count { $0.section == observer.section && ($0.stream == nil) == (served == nil) }
        guard kept < transfersMax else { return nil }
        var transfer = StateTransfer(
            id: transfersCount + 1, section: observer.section, form: observer.form, stream: served?.stream,
            seq: core.seq, madeAt: now.monotonic, usedAt: now.monotonic)
        if isLarge(observer.section) {
            transfer.job = wish(
                for: .encoding(
                    core.fold.resting, section: observer.section, observer.form,
                    chunkBytes: configuration.statePartBytes))
        } else {
            guard let bytes = try? core.fold.encodedState(section: observer.section) else { return nil }
            updates.note(size: bytes.count, of: observer.section)
            transfer.add([bytes], partBytes: configuration.statePartBytes, isComplete: true)
        }
        transfersCount += 1
        transfers.append(transfer)
        return transfers.count - 1
    }

    /// Whether encoding it would hold up the loop, as far as is known.
    private func isLarge(_ section: Int?) -> Bool { size(of: section) > configuration.hashedBytesMax }

    /// Chunks of a state are encoded: who has asked for parts of them gets those, and the next chunks are encoded.
    mutating func continueTransfer(_ job: UInt64, _ encoded: EncodedChunks?) {
        guard let position = transfers.firstIndex(where: { $0.job == job }) else { return }
        guard let encoded else {
            let transfer = transfers.remove(at: position)
            for route in transfer.routes {
                refuse(
                    JoiningObserver(
                        section: transfer.section, form: transfer.form, stream: transfer.stream, route: route))
            }
            return
        }
        transfers[position].add(
            encoded.chunks, partBytes: configuration.statePartBytes, isComplete: encoded.rest.isAtEnd)
        if encoded.rest.isAtEnd {
            transfers[position].job = nil
            updates.note(size: transfers[position].byteCount, of: transfers[position].section)
        } else {
            transfers[position].job = wish(
                for: .more(encoded.rest, chunkBytes: configuration.statePartBytes))
        }
        for (part, route) in transfers[position].takeWaiting() { answer(part, ofTransferAt: position, route) }
    }
}

/// Who has asked for a state, and waits for it.
struct JoiningObserver: Sendable {
    /// Nil: all of the state.
    let section: Int?
    let form: StateForm
    /// The stream of deltas that is followed; nil: none is.
    let stream: UpdateStream?
    let route: Route
}
