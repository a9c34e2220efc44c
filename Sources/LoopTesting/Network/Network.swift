import LoopCluster
import LoopCore
import LoopWire

/// What messages go through on their way.
///
/// Messages travel as values. One in sixteen goes through its bytes: enough to see that bytes and values say the same, which
/// the tests of the wire check for every message, and cheap enough for millions of them.
struct Network {
    let loop: LoopID
    private var messageCount = 0

    init(loop: LoopID) { self.loop = loop }

    private mutating func goesThroughBytes() -> Bool {
        messageCount += 1
        return messageCount % 16 == 0
    }

    /// A frame of the reducer as it arrives.
    /// - Parameter topic: the one that it is published on; nil: it is a reply.
    mutating func carry(_ frame: PeerFrame, on topic: @autoclosure () -> Topic?) -> PeerFrame {
        guard goesThroughBytes() else { return frame }
        let topic = topic()
        let bytes = frame.bytes(topic: topic)
        do {
            guard let topic else { return try PeerFrame(bytes: bytes[...]) }
            let (read, frame) = try PeerFrame.published(bytes[...])
            precondition(read == topic, "a frame went to \(read), not to \(topic)")
            return frame
        } catch {
            preconditionFailure("the bytes of a reducer's frame cannot be read: \(error)")
        }
    }

    /// A control message of a peer as it arrives.
    mutating func carry(_ message: ToReducer) -> ToReducer {
        guard goesThroughBytes() else { return message }
        let bytes = message.bytes(loop: loop)
        guard let read = try? ToReducer(bytes: bytes[...], loop: loop) else {
            preconditionFailure("the bytes of a peer's message cannot be read: \(bytes)")
        }
        return read
    }

    /// A batch of a peer as it arrives.
    mutating func carry(_ batch: Batch) -> Batch {
        guard goesThroughBytes() else { return batch }
        let bytes = batch.bytes
        guard let read = try? Batch(bytes: bytes) else {
            preconditionFailure("the bytes of a peer's batch cannot be read: \(bytes)")
        }
        return read
    }
}
