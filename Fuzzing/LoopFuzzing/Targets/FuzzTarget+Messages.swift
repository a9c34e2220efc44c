import CBOR
import LoopCluster
import LoopCore
import LoopWire

extension FuzzTarget {
    /// What peers say over DEALER. The message comes back from its own bytes.
    static let peerMessages = FuzzTarget("peer-messages") { bytes in
        // The loop is the one that the message names, so that most inputs come past it.
        let loop = LoopID(value: number(in: bytes, at: 2))
        guard let message = try parsed({ () throws(WireError) in try ToReducer(bytes: bytes[...], loop: loop) }) else {
            return
        }
        let again = message.bytes(loop: loop)
        try require(try ToReducer(bytes: again[...], loop: loop) == message, "\(message) is read as another message")
        // A hello of another loop is let through under that name.
        try require(again == bytes, "\(message) is written in another way than it came")
    }

    /// What workers and senders push, and the failures inside.
    static let batches = FuzzTarget("batches") { bytes in
        if let failure = try parsed({ () throws(WireError) in try Failure(bytes: bytes[...]) }) {
            try require(try Failure(bytes: failure.bytes[...]) == failure, "\(failure) is read as another failure")
        }
        guard let batch = try parsed({ () throws(WireError) in try Batch(bytes: bytes) }) else { return }
        try require(batch.bytes == bytes, "\(batch) is written in another way than it came")
        for entry in batch.entries where entry.kind == .failed {
            _ = try parsed { () throws(WireError) in try Failure(bytes: entry.payload) }
        }
    }

    /// What the reducer says, over ROUTER and under a topic.
    static let reducerMessages = FuzzTarget("reducer-messages") { bytes in
        if let topic = try parsed({ () throws(WireError) in try Topic(bytes: bytes[...]) }) {
            try require(topic.bytes == bytes, "\(topic) is written in another way than it came")
        }
        if let frame = try parsed({ () throws(WireError) in try PeerFrame(bytes: bytes[...]) }) {
            try checkStable(frame)
        }
        var topic: Topic?
        let published = try parsed { () throws(WireError) in
            let (found, frame) = try PeerFrame.published(bytes[...])
            topic = found
            return frame
        }
        if let published, let topic {
            let again = try PeerFrame.published(published.bytes(topic: topic)[...])
            try require(again.topic == topic, "\(topic) is read as \(again.topic)")
            try checkStable(published)
        }
    }

    /// Durations are cut to what a clock can bear; everything else is kept.
    static func checkStable(_ frame: PeerFrame) throws {
        let bytes = frame.bytes(topic: nil)
        try require(try PeerFrame(bytes: bytes[...]) == frame, "\(frame) is read as another frame")
    }

    /// A value, or nil for an error, which is a line in a log at most.
    static func parsed<Value>(_ read: () throws(WireError) -> Value) throws -> Value? {
        do throws(WireError) {
            return try read()
        } catch {
            try checkBounded(error)
            return nil
        }
    }

    private static func number(in bytes: [UInt8], at offset: Int) -> UInt64 {
        bytes.dropFirst(offset).prefix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
}
