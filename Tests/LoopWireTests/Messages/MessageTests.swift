import CBOR
import Foundation
import LoopCore
import LoopWire
import Testing

@Suite struct `Messages between nodes` {
    @Test func `every frame of the reducer comes back as it went`() throws {
        for (name, frame) in MessageExamples.toPeer {
            #expect(try PeerFrame(bytes: frame.bytes(topic: nil)[...]) == frame, "\(name)")
        }
    }

    @Test func `a published frame comes back with its topic`() throws {
        let topics = MessageExamples.topics.map(\.topic) + [.inbox(MessageExamples.loop, MessageExamples.peer)]
        for topic in topics {
            for (_, frame) in MessageExamples.toPeer {
                let back = try PeerFrame.published(frame.bytes(topic: topic)[...])
                #expect(back.topic == topic)
                #expect(back.frame == frame)
            }
        }
    }

    @Test func `every message of a peer comes back as it went`() throws {
        for (name, message) in MessageExamples.toReducer {
            let bytes = message.bytes(loop: MessageExamples.loop)
            #expect(try ToReducer(bytes: bytes[...], loop: MessageExamples.loop) == message, "\(name)")
        }
        for batch in [MessageExamples.batch, MessageExamples.asking] {
            #expect(try Batch(bytes: batch.bytes) == batch)
        }
    }

    @Test func `a failure comes back as it went`() throws {
        for failure in [
            Failure(message: ""), Failure(message: "no", isFinal: true),
            Failure(message: "later", retryAfter: .milliseconds(1500)),
        ] {
            #expect(try Failure(bytes: failure.bytes[...]) == failure)
        }
    }

    @Test func `a message to another loop is refused, but for hello, status and operators' requests`() {
        let allowed = ["hello", "status?", "administration"]
        for (name, message) in MessageExamples.toReducer {
            let bytes = message.bytes(loop: LoopID(name: "another"))
            let back = try? ToReducer(bytes: bytes[...], loop: MessageExamples.loop)
            #expect((back != nil) == allowed.contains(name), "\(name)")
        }
    }

    @Test func `no topic is a prefix of another of its kind`() {
        let other = PeerID(high: 1, low: 2)
        let topics =
            MessageExamples.topics.map(\.topic)
            + [.inbox(MessageExamples.loop, MessageExamples.peer), .inbox(MessageExamples.loop, other)]
        for a in topics {
            for b in topics where a != b { #expect(!b.bytes.starts(with: a.bytes)) }
        }
    }

    @Test func `every example is the vector of its name`() throws {
        let written = MessageExamples.all.map { "\($0.name); \(hexadecimal($0.bytes))" }
        #expect(try vectors("messages.txt") == written)
    }

    @Test func `every document is the vector of its name`() throws {
        let written = try DocumentExamples.all.map { "\($0.name); \(hexadecimal($0.bytes))" }
        #expect(try vectors("documents.txt") == written)
    }
}

/// The lines of a file of vectors, without comments.
func vectors(_ name: String) throws -> [String] {
    let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../Vectors/\(name)")
    return try String(contentsOf: file, encoding: .utf8)
        .split(separator: "\n").map(String.init).filter { !$0.hasPrefix("#") }
}

@Suite struct `Messages from anybody` {
    @Test func `G12 that greet with longer names or lists than a definition has are refused`() {
        func joins(_ change: (inout JoinRequest) -> Void) -> Bool {
            var request = JoinRequest(
                peer: PeerID(high: 1, low: 2), session: .none, history: .none, epoch: .none, watermark: 0, schema: 1,
                fingerprint: 1, capacity: 1, groups: ["a"], name: "b", feedbacks: ["c@default"])
            change(&request)
            let loop = LoopID(name: "x")
            return (try? ToReducer(bytes: ToReducer.join(request).bytes(loop: loop)[...], loop: loop)) != nil
        }
        func text(_ count: Int) -> String { String(repeating: "n", count: count) }
        #expect(joins { $0.name = text(128) })
        #expect(!joins { $0.name = text(129) })
        #expect(joins { $0.groups = Array(repeating: text(128), count: 4096) })
        #expect(!joins { $0.groups = [text(129)] })
        #expect(!joins { $0.groups = Array(repeating: "", count: 4097) })
        #expect(joins { $0.feedbacks = [text(257)] })
        #expect(!joins { $0.feedbacks = [text(258)] })
        #expect(!joins { $0.feedbacks = Array(repeating: "", count: 4097) })
        let hello = ToReducer.hello(name: text(129), schema: 1).bytes(loop: LoopID(name: "x"))
        #expect(throws: WireError.self) { try ToReducer(bytes: hello[...], loop: LoopID(name: "x")) }
    }

    @Test func `a message cut at any byte is refused`() {
        for (name, bytes) in MessageExamples.all {
            // A message without answers ends before them: one that is cut there is whole.
            let whole = name.hasSuffix("with answers") ? bytes.count - 32 : bytes.count
            for count in 0..<bytes.count where count != whole {
                #expect(!decodes(name, Array(bytes[..<count])), "\(name) cut to \(count)")
            }
        }
    }

    @Test func `a message with a byte too many is refused`() {
        for (name, bytes) in MessageExamples.all { #expect(!decodes(name, bytes + [0]), "\(name)") }
    }

    @Test func `a flipped bit never brings the process down`() throws {
        for (name, bytes) in MessageExamples.all {
            for bit in 0..<bytes.count * 8 {
                var flipped = bytes
                flipped[bit / 8] ^= 1 << (bit % 8)
                _ = decodes(name, flipped)
            }
        }
    }

    @Test func `every byte in every place never brings the process down`() {
        for (name, bytes) in MessageExamples.all where bytes.count < 120 {
            for place in bytes.indices {
                for value: UInt8 in [0, 1, 0x7f, 0x80, 0xff] {
                    var changed = bytes
                    changed[place] = value
                    _ = decodes(name, changed)
                }
            }
        }
    }

    @Test func `a count far beyond the bytes is refused before anything is allocated for it`() {
        var bytes = MessageExamples.batch.bytes
        // The count of entries follows 52 bytes of header.
        for offset in 52..<56 { bytes[offset] = 0xff }
        #expect(!decodes("peer: batch", bytes))
    }

    @Test func `an unknown verb is refused`() {
        var frame = MessageExamples.toPeer[0].frame.bytes(topic: nil)
        for verb: UInt8 in 20...255 {
            frame[34] = verb
            #expect(!decodes("reducer: any", frame), "verb \(verb)")
        }
        var message = ToReducer.statusRequest.bytes(loop: MessageExamples.loop)
        for verb: UInt8 in 12...255 {
            message[12] = verb
            #expect(!decodes("peer: any", message), "verb \(verb)")
        }
    }

    private func decodes(_ name: String, _ bytes: [UInt8]) -> Bool {
        do {
            if name == "peer: batch" {
                _ = try Batch(bytes: bytes)
            } else if name.hasPrefix("topic") {
                _ = try Topic(bytes: bytes[...])
            } else if name.hasSuffix("in its inbox") {
                _ = try PeerFrame.published(bytes[...])
            } else if name.hasPrefix("reducer") {
                _ = try PeerFrame(bytes: bytes[...])
            } else {
                _ = try ToReducer(bytes: bytes[...], loop: MessageExamples.loop)
            }
            return true
        } catch {
            return false
        }
    }
}

func hexadecimal(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}
