public import LoopCore
import LoopWire

/// A snapshot cannot be made, or the loop cannot continue from it.
public enum SnapshotError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The bytes are not those that were written.
    case corrupt(String)
    /// It was written by a newer release in a form that this one does not know.
    case newerFormat(UInt16)
    /// It is of another loop.
    case otherLoop(snapshot: String, binary: String)
    /// It is of another run.
    case otherArguments(OtherArguments)
    /// Its state is older than the definition can migrate.
    case schemaTooOld(snapshot: UInt64, oldest: Int, binary: Int)
    /// Its state is newer than the definition.
    case schemaTooNew(snapshot: UInt64, binary: Int)
    /// Its state cannot be read: decoding or `migrateState` threw.
    case unreadableState(seq: Seq, schema: UInt64, reason: String)
    /// The state, or what a query remembers, cannot be encoded.
    case unencodable(String)
    /// This definition has not taken over: it has no definition record yet, and another definition's queries still count.
    case notTakenOver

    /// The error and its remedy in one line, for people.
    public var description: String {
        switch self {
        case .corrupt(let what): "the snapshot is damaged: \(what)"
        case .newerFormat(let version):
            "the snapshot is of format \(version), this release reads formats up to \(SnapshotHeader.formatVersion); start a newer"
                + " release"
        case .otherLoop(let snapshot, let binary): "the snapshot is of the loop \"\(snapshot)\", this is \"\(binary)\""
        case .otherArguments(let other): "\(other)"
        case .schemaTooOld(let snapshot, let oldest, let binary):
            "the snapshot has schema \(snapshot); this build has schema \(binary) and migrates states from schema"
                + " \(oldest) on: start a build that reads schema \(snapshot) and has schema \(oldest) or newer, stop it"
                + " with SIGTERM, then start this one"
        case .schemaTooNew(let snapshot, let binary):
            "the snapshot has schema \(snapshot), this build has schema \(binary): start the newer build, or one of before"
                + " the change on a backup of the journal"
        case .unreadableState(let seq, let schema, let reason):
            "the state of schema \(schema) at seq \(seq) cannot be read: \(reason); where State or its encoding has"
                + " changed, raise `schema` and say in `migrateState` how the old one is read"
        case .unencodable(let reason): "a snapshot cannot be made: \(reason)"
        case .notTakenOver: "a snapshot cannot be made before this definition has taken over; begin an epoch first"
        }
    }
}
