package import LoopCore
import LoopWire

/// The journal has events that another definition applied, and that no snapshot covers, so that their results cannot be known.
package struct DefinitionMismatch: Error, Equatable, Sendable, CustomStringConvertible {
    /// The definition that applied the events, as the journal names it.
    package var journal: DefinitionRecord
    /// The definition of this program.
    package var binary: DefinitionRecord
    /// The first event that would have to be applied.
    package var seq: Seq

    /// The difference and its remedy in one line, for people.
    package var description: String {
        let difference =
            journal.fingerprint == binary.fingerprint
            ? "a feedback has other keys or requests, or another form, under the same name"
            : "the journal's: \(journal.summary); this one: \(binary.summary)"
        return
            "event \(seq) was applied by another definition than this one (\(difference)); start the earlier build on this"
            + " journal once and stop it with SIGTERM, which writes a snapshot that this one takes over, or pass"
            + " --reinterpret to apply the events since the last snapshot with this definition"
    }
}

/// The journal belongs to a run that began with another initial state.
package struct OtherArguments: Error, Equatable, Sendable, CustomStringConvertible {
    /// The hash of the encoded initial state of the journal's run.
    package var journal: UInt64
    /// The hash of the encoded initial state of this run.
    package var binary: UInt64

    /// The difference and its remedy in one line, for people.
    package var description: String {
        "the journal belongs to a run of this loop that began with another initial state (\(hexadecimal(journal)), this"
            + " one begins with \(hexadecimal(binary))); start with the same arguments, or give this run a journal of its"
            + " own"
    }
}

/// A record that does not fit the ones before it.
package struct RecordDoesNotFit: Error, Equatable, Sendable, CustomStringConvertible {
    /// The reason why the record cannot be applied, in words.
    package var reason: String

    package init(reason: String) { self.reason = reason }

    /// The error with its reason in one line, for people.
    package var description: String { "a record does not fit the ones before it: \(reason)" }
}

/// A replay gave another state than the journal records. The reducer is not a function of its arguments, or it is not the one
/// that wrote the journal.
package struct ReplayDifference: Error, Equatable, Sendable {
    /// The seq of the state whose hashes differ.
    package var seq: Seq
    /// The state hash in the journal.
    package var journaled: UInt64
    /// The state hash of the replay.
    package var replayed: UInt64
}

extension DefinitionRecord {
    /// A text for people, such as "fingerprint 0123456789abcdef, schema 2, feedbacks a, b".
    var summary: String {
        "fingerprint \(hexadecimal(fingerprint)), schema \(schema), feedbacks \(feedbacks.joined(separator: ", "))"
    }
}
