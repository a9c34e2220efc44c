import LoopCore
import LoopWire

/// States that observers fetch in parts. (Protocol, section 8.)
extension ReducerCore {
    /// How many encoded states are kept at once, of the whole state and of each section.
    private var transfersMax: Int { 4 }

    /// A part of an encoded state. One encoded state serves all who ask within a second; few are kept at once.
    /// - Parameter name: of a section; empty: all of the state.
    mutating func answerState(_ id: UInt64, offset: UInt64, of name: String, _ route: Route) {
        guard let section = section(named: name) else {
            let names = core.loop.sections.map { "\"\($0.name)\"" }.joined(separator: ", ")
            return reply(.refused(Refused(.section, reducer: names, peer: String(name.prefix(256)))), to: route)
        }
        let position =
            transfers.firstIndex { $0.id == id && $0.section == section.index } ?? beginTransfer(of: section.index)
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

    private mutating func beginTransfer(of section: Int?) -> Int? {
        if let recent = transfers.lastIndex(where: {
            $0.section == section && ($0.seq == core.seq || now.monotonic - $0.madeAt < .seconds(1))
        }) {
            return recent
        }
        guard transfers.count(where: { $0.section == section }) < transfersMax,
            let bytes = try? core.fold.encodedState(section: section)
        else { return nil }
        updates.note(size: bytes.count, of: section)
        transfersCount += 1
        transfers.append(
            StateTransfer(
                id: transfersCount, section: section, seq: core.seq, bytes: bytes, madeAt: now.monotonic,
                usedAt: now.monotonic))
        return transfers.count - 1
    }
}

/// An encoded state that observers fetch in parts.
struct StateTransfer: Sendable {
    let id: UInt64
    /// Nil: all of the state.
    let section: Int?
    let seq: Seq
    let bytes: [UInt8]
    let madeAt: MonotonicTime
    var usedAt: MonotonicTime
}
