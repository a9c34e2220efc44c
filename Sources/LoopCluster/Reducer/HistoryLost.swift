public import LoopWire

/// The report that a peer knows more of this history than the journal has, so that acknowledged records are missing. The disk
/// lost them, or the journal is an older copy.
public struct HistoryLost: Error, Equatable, Sendable, CustomStringConvertible {
    /// The records that the journal does not have, as the peer's join request shows.
    public enum Missing: Equatable, Sendable {
        /// The peer was admitted in an epoch that the journal does not have.
        case epoch(Epoch, newest: Epoch)
        /// The peer was granted a session that the journal does not have.
        case session(SessionID, next: SessionID)
        /// The peer was granted a session that is another peer's in the journal.
        case otherSession(SessionID, of: PeerID)
        /// Entries of the peer's session were acknowledged, but the journal does not have them.
        case entries(SessionID, acknowledged: UInt64, watermark: UInt64)
    }

    /// The records that are missing.
    public var missing: Missing
    /// The peer that knows of the missing records.
    public var peer: PeerID
    /// The name that the peer gives itself, for people; at most 256 characters.
    public var name: String

    /// Creates the report of a loss that one peer has shown.
    public init(missing: Missing, peer: PeerID, name: String) {
        self.missing = missing
        self.peer = peer
        self.name = name
    }

    /// What a person can do about missing acknowledged records. All errors about lost history end with this text.
    /// - Parameters:
    ///   - loop: the name of the loop.
    ///   - seq: the last event that can be kept, or 0 if none can.
    ///   - place: the journal, as the command line names it.
    public static func remedy(loop: String, seq: UInt64, place: String) -> String {
        let kept = seq == 0 ? "keep no event" : "keep events 1 to \(seq)"
        return "put the copy that has them in its place, or \(kept) and begin a new history: "
            + "loop-reducer \(loop) trim --after \(seq) \(place)"
    }

    /// One line for people: which records are missing, and which peer knows of them.
    public var description: String {
        let what =
            switch missing {
            case .epoch(let epoch, let newest) where epoch.number > newest.number:
                "epoch \(epoch), and the journal's newest is \(newest)"
            case .epoch(let epoch, _): "another epoch \(epoch) than the journal's, so that one of the two is a copy"
            case .session(let session, let next): "its session \(session), and the journal's next is \(next)"
            case .otherSession(let session, let owner): "its session \(session), which is \(owner)'s in the journal"
            case .entries(let session, let acknowledged, let watermark):
                "entry \(acknowledged) of session \(session) as acknowledged, and the journal ends at \(watermark)"
            }
        return "acknowledged records are missing: the peer \"\(name)\" (\(peer)) knows of \(what)"
    }
}
