import LoopCore
import LoopWire

/// States that observers fetch in parts. (Protocol, section 8.)
extension ReducerCore {
    /// How many encoded states are kept at once, of the whole state and of each section; and as many again for those who
    /// follow differences.
    private var transfersMax: Int { 4 }

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
        let position =
            transfers.firstIndex { $0.id == id && $0.section == section.index }
            ?? beginTransfer(of: section.index, stream)
        guard let position else {
            count(.stateTransferBusy)
            return reply(.busy(retryAfter: .seconds(1)), to: route)
        }
        transfers[position].usedAt = now.monotonic
        let transfer = transfers[position]
        let start = transfer.id == id ? min(Int(clamping: offset), transfer.bytes.count) : 0
        let end = min(start + configuration.statePartBytes, transfer.bytes.count)
        reply(
            .statePart(
                StatePart(
                    transfer: transfer.id, seq: transfer.seq, total: UInt64(transfer.bytes.count),
                    offset: UInt64(start), bytes: Array(transfer.bytes[start..<end]))),
            to: route)
    }

    /// Nil: there is no such section.
    private func section(named name: String) -> (index: Int?, Void)? {
        if name.isEmpty { return (nil, ()) }
        guard let index = core.loop.sections.firstIndex(where: { $0.name == name }) else { return nil }
        return (index, ())
    }

    /// The present state; for who follows differences the one that the next difference is to, or none would ever follow it
    /// in a loop that does not rest.
    private mutating func beginTransfer(of section: Int?, _ stream: UpdateStream?) -> Int? {
        let served = updates.streams.first { $0.stream == stream && $0.base != nil }
        let same = served?.published ?? core.seq...core.seq
        if let recent = transfers.lastIndex(where: {
            guard $0.section == section else { return false }
            if same.contains($0.seq) { return true }
            return $0.stream == served?.stream && now.monotonic - $0.madeAt < .seconds(1)
        }) {
            return recent
        }
        let kept = transfers.count { $0.section == section && ($0.stream == nil) == (served == nil) }
        guard kept < transfersMax, let bytes = encodedState(of: section, served?.base) else { return nil }
        updates.note(size: bytes.count, of: section)
        transfersCount += 1
        transfers.append(
            StateTransfer(
                id: transfersCount, section: section, stream: served?.stream, seq: same.upperBound, bytes: bytes,
                madeAt: now.monotonic, usedAt: now.monotonic))
        return transfers.count - 1
    }

    private func encodedState(of section: Int?, _ base: KeptState?) -> [UInt8]? {
        guard let base else { return try? core.fold.encodedState(section: section) }
        return try? core.fold.encoded(base, section: section)
    }
}

/// An encoded state that observers fetch in parts.
struct StateTransfer: Sendable {
    let id: UInt64
    /// Nil: all of the state.
    let section: Int?
    /// The stream of differences that it is for; nil: none in particular.
    let stream: UpdateStream?
    let seq: Seq
    let bytes: [UInt8]
    let madeAt: MonotonicTime
    var usedAt: MonotonicTime
}
