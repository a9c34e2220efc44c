import LoopCluster
import LoopWire

/// An outbox file with what an earlier process left in it.
struct ResumedOutbox {
    let file: OutboxFile
    let stream: PeerStream
    let recovered: RecoveredEvents
    /// The loop that it is for, empty if neither the file nor the sender names one.
    let loop: String

    /// - Parameter loop: the loop that its sender names, or an empty text for the one in the file.
    init(_ path: String, loop: String) throws(OutboxError) {
        file = try OutboxFile(path)
        stream = try file.load()
        recovered = RecoveredEvents(stream)
        // An empty file can be used for another loop.
        let isBound = !file.loop.isEmpty && (stream.session != .none || !stream.entries.isEmpty)
        if isBound, !loop.isEmpty, loop != file.loop { throw OutboxError(path, of: file.loop, not: loop) }
        self.loop = isBound ? file.loop : loop
    }
}
