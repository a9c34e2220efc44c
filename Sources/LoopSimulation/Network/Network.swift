import LoopWire

/// What happens to messages on their way.
///
/// Messages are passed as values. One in sixteen is encoded and decoded. That is enough to see that bytes and values agree, and
/// cheap enough for millions of messages. The tests of the wire check every message.
struct Network {
    let loop: LoopID
    private var messageCount = 0

    init(loop: LoopID) { self.loop = loop }

    private mutating func goesThroughBytes() -> Bool {
        messageCount += 1
        return messageCount % 16 == 0
    }

    /// A frame of the reducer as it arrives.
    /// - Parameter topic: the topic on which it is published, or nil for a reply.
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
