import LoopCore
import LoopWire

/// An observer's request for a part of an encoded state.
struct StateRequest: Equatable, Sendable {
    /// The transfer, or 0 for a new one.
    let transfer: UInt64
    let part: UInt64
    let form: StateForm
    /// The name of the section; empty for the whole state.
    let name: String
    /// The interval of the stream of deltas that the observer follows, or nil if it follows none.
    let interval: UInt32?
    let route: Route
}

/// An observer that has asked for a state, and waits for it.
struct JoiningObserver: Sendable {
    /// The position of the section, or nil for the whole state.
    let section: Int?
    let form: StateForm
    /// The stream of deltas that the observer follows, or nil if it follows none.
    let stream: UpdateStream?
    let route: Route
}

/// The transfers of states that observers fetch in parts. (Protocol, section 8.)
///
/// One encoded state serves all observers that ask within a second. Few transfers are under way at once.
extension Updates {
    /// How many observers may wait for a state to be published, or for one part to be encoded. Others have to come again.
    private static var waitingMax: Int { 1024 }

    mutating func answer(
        _ request: StateRequest, _ journaled: JournaledState, _ turn: inout TurnOutput, _ context: TurnContext
    ) {
        let id = SectionID(name: request.name)
        guard let section = journaled.loop.section(id) else {
            let names = journaled.loop.sections.map { "\"\($0.name)\"" }.joined(separator: ", ")
            return turn.reply(
                .refused(
                    Refused(.section, reducer: names, peer: String(request.name.prefix(256))),
                    to: .state(transfer: request.transfer)), to: request.route)
        }
        let stream = request.interval.map { UpdateStream(.delta, of: id, interval: $0) }
        if request.transfer != 0 {
            let asked = transfers.firstIndex { $0.id == request.transfer && $0.section == section.index }
            guard let position = asked else {
                let reason = "transfer \(request.transfer) is over: begin a new one"
                let over = ToPeer.busy(to: .state(transfer: request.transfer), retryAfter: .zero, reason: reason)
                return turn.reply(over, to: request.route)
            }
            return answer(request.part, ofTransferAt: position, request.route, &turn, context)
        }
        let observer = JoiningObserver(
            section: section.index, form: request.form, stream: stream, route: request.route)
        for position in transfers.indices where transfers[position].section == section.index {
            transfers[position].leave(request.route)
        }
        // The state is published only in this turn, so that every later delta follows from it.
        guard let behind = streams.firstIndex(where: { isBehind($0, stream, journaled) }),
            recentTransfer(for: observer, journaled, context) == nil
        else { return begin(observer, journaled, &turn, context) }
        guard joining.count < Self.waitingMax else { return refuse(.crowd(joining.count), observer.route, &turn) }
        streams[behind].nextAt = .zero
        joining.append(observer)
    }

    /// Answers the observers that wait, after this turn's updates are published.
    mutating func answerJoining(_ journaled: JournaledState, _ turn: inout TurnOutput, _ context: TurnContext) {
        guard !joining.isEmpty else { return }
        for observer in joining {
            if streams.contains(where: { isBehind($0, observer.stream, journaled) }) {
                refuse(.unencodable, observer.route, &turn)
            } else {
                begin(observer, journaled, &turn, context)
            }
        }
        joining.removeAll()
    }

    /// Takes encoded chunks of a state. Observers that wait for their parts get them, and the next chunks are encoded.
    mutating func continueTransfer(
        _ job: UInt64, _ encoded: EncodedChunks?, _ turn: inout TurnOutput, _ context: TurnContext
    ) {
        guard let position = transfers.firstIndex(where: { $0.job == job }) else { return }
        guard let encoded else {
            let transfer = transfers.remove(at: position)
            for (route, id) in transfer.askers { refuse(.unencodable, route, transfer: id, &turn) }
            return
        }
        let partBytes = context.configuration.statePartBytes
        transfers[position].add(encoded.chunks, partBytes: partBytes, isComplete: encoded.rest.isAtEnd)
        if encoded.rest.isAtEnd {
            transfers[position].job = nil
            encodings.note(size: transfers[position].byteCount, of: transfers[position].section)
        } else {
            transfers[position].job = turn.wish(for: .more(encoded.rest, chunkBytes: partBytes))
        }
        for (part, route) in transfers[position].takeWaiting() {
            answer(part, ofTransferAt: position, route, &turn, context)
        }
    }

    /// Drops transfers that no observer fetches any more. Called with a tick.
    mutating func dropTransfers(at now: MonotonicTime) {
        transfers.removeAll { $0.isComplete && now - $0.usedAt > .seconds(10) }
    }

    /// Whether the next delta on a stream would not have the present state as its base.
    private func isBehind(_ served: ServedStream, _ stream: UpdateStream?, _ journaled: JournaledState) -> Bool {
        served.stream == stream && served.base != nil && served.published?.upperBound != journaled.seq
    }

    /// The reason why a state cannot be fetched now.
    private enum Obstacle {
        /// This many observers wait for the state to be published, which is the limit.
        case crowd(Int)
        /// The definition's state cannot be encoded.
        case unencodable
        /// This many transfers are under way, which is the limit. The first may be over after `wait`.
        case full(Int, wait: Duration)
    }

    /// - Parameter transfer: the transfer number that the observer uses.
    private func refuse(_ obstacle: Obstacle, _ route: Route, transfer: UInt64 = 0, _ turn: inout TurnOutput) {
        turn.count(.stateTransferBusy)
        let (wait, reason): (Duration, String) =
            switch obstacle {
            case .crowd(let count): (.seconds(1), "\(count) observers wait for the state at once, as many as may")
            case .unencodable: (.seconds(1), "the state cannot be encoded")
            case .full(let count, let wait): (wait, "\(count) transfers of it are under way at once, as many as may")
            }
        turn.reply(.busy(to: .state(transfer: transfer), retryAfter: wait, reason: reason), to: route)
    }

    private func served(_ observer: JoiningObserver) -> ServedStream? {
        streams.first { $0.stream == observer.stream && $0.base != nil }
    }

    /// The index of a transfer of the wanted state, or of a slightly older one.
    private func recentTransfer(
        for observer: JoiningObserver, _ journaled: JournaledState, _ context: TurnContext
    ) -> Int? {
        let served = served(observer)
        let same = served?.published ?? journaled.seq...journaled.seq
        return transfers.lastIndex {
            guard $0.section == observer.section, $0.form == observer.form else { return false }
            if same.contains($0.seq) { return true }
            return $0.stream == served?.stream && context.now.monotonic - $0.madeAt < .seconds(1)
        }
    }

    /// Sends the first part of a recent state, or of the present one, which is the base of the next delta.
    private mutating func begin(
        _ observer: JoiningObserver, _ journaled: JournaledState, _ turn: inout TurnOutput, _ context: TurnContext
    ) {
        var position = recentTransfer(for: observer, journaled, context)
        if position == nil {
            if let obstacle = makeRoom(for: observer, context) { return refuse(obstacle, observer.route, &turn) }
            position = beginTransfer(for: observer, journaled, &turn, context)
        }
        guard let position else { return refuse(.unencodable, observer.route, &turn) }
        answer(0, ofTransferAt: position, observer.route, &turn, context)
    }

    private mutating func answer(
        _ part: UInt64, ofTransferAt position: Int, _ route: Route, _ turn: inout TurnOutput, _ context: TurnContext
    ) {
        if let part = transfers[position].take(part, for: route, at: context.now.monotonic) {
            turn.reply(.statePart(part), to: route)
        } else {
            transfers[position].wait(for: part, route, atMost: Self.waitingMax)
        }
    }

    /// Forgets the transfer that was used the longest ago if no more may be kept. Transfers under way are kept.
    /// - Returns: the obstacle if all are under way, or nil if there is space.
    private mutating func makeRoom(for observer: JoiningObserver, _ context: TurnContext) -> Obstacle? {
        let now = context.now.monotonic
        let purpose = StateTransfer.Purpose(section: observer.section, followsDeltas: served(observer) != nil)
        let kept = transfers.indices.filter { transfers[$0].purpose == purpose }
        guard kept.count >= context.configuration.transfersMax, !context.breaks(.transfersAreBounded) else {
            return nil
        }
        let idle = kept.filter { transfers[$0].underWayUntil ?? .zero <= now }
        guard let oldest = idle.min(by: { transfers[$0].usedAt < transfers[$1].usedAt }) else {
            let first = kept.compactMap { transfers[$0].underWayUntil }.min() ?? now
            return .full(kept.count, wait: min(max(first - now, .milliseconds(100)), .seconds(1)))
        }
        transfers.remove(at: oldest)
        return nil
    }

    /// - Returns: its position, or nil if the state cannot be encoded.
    private mutating func beginTransfer(
        for observer: JoiningObserver, _ journaled: JournaledState, _ turn: inout TurnOutput, _ context: TurnContext
    ) -> Int? {
        let (now, partBytes) = (context.now.monotonic, context.configuration.statePartBytes)
        var transfer = StateTransfer(
            id: transfersCount + 1, section: observer.section, form: observer.form, stream: served(observer)?.stream,
            seq: journaled.seq, madeAt: now, usedAt: now)
        // A state that is large, as far as is known, is encoded by another thread, because it would hold up the loop.
        if encodings.size(of: observer.section, journaled) > context.configuration.hashedBytesMax {
            transfer.job = turn.wish(
                for: .encoding(
                    journaled.loopState.resting, section: observer.section, observer.form, chunkBytes: partBytes))
        } else {
            guard let bytes = try? journaled.loopState.encodedState(section: observer.section) else { return nil }
            encodings.note(size: bytes.count, of: observer.section)
            transfer.add([bytes], partBytes: partBytes, isComplete: true)
        }
        transfersCount += 1
        transfers.append(transfer)
        return transfers.count - 1
    }
}
