import CBOR
import LoopCore
import Testing

@testable import LoopWire

@Suite struct `A run of entries` {
    private let entries = [
        Entry(kind: .event, payload: [1, 2, 3]), Entry(kind: .event, payload: []),
        Entry(
            kind: .failed, effect: EffectID(feedback: 1, seq: Seq(2), index: 3), attempt: Attempt(epoch: 4, count: 5),
            payload: [6]),
        Entry(kind: .event, payload: [7, 8], wantsSeq: true),
    ]

    @Test func `is what was appended, in order`() {
        var run = EntryRun()
        for entry in entries { run.append(entry) }
        #expect(Array(run) == entries)
        #expect(run == EntryRun(entries))
        #expect(run.byteCount == 9 + 6 + 39 + 8)
        #expect(run.payloadBytesMax == 3)
        run.removeAll()
        #expect(run.isEmpty)
        #expect(run == EntryRun())
        run.append(entries[1])
        #expect(Array(run) == [entries[1]])
    }

    @Test func `can be taken in parts, which travel as if they were all`() throws {
        let run = EntryRun(entries)
        for start in 0...4 {
            for end in start...4 {
                let part = run[start..<end]
                #expect(Array(part) == Array(entries[start..<end]))
                #expect(part == EntryRun(entries[start..<end]))
                #expect(part.byteCount == run.byteCount(of: start..<end))
                var joined = EntryRun([entries[0]])
                joined.append(part)
                #expect(Array(joined) == [entries[0]] + entries[start..<end])
                guard !part.isEmpty else { continue }
                var batch = MessageExamples.batch
                batch.entries = part
                #expect(try Array(Batch(bytes: batch.bytes).entries) == Array(entries[start..<end]))
            }
        }
    }

    @Test func `is plain while all are events of no effect whose seq is not wanted`() throws {
        #expect(EntryRun(entries[..<2]).isPlain)
        #expect(!EntryRun(entries[..<3]).isPlain)
        #expect(!EntryRun([entries[3]]).isPlain)
        var joined = EntryRun([entries[0]])
        joined.append(EntryRun([entries[1]]))
        #expect(joined.isPlain)
        joined.append(EntryRun([entries[3]]))
        #expect(!joined.isPlain)
        for entry in entries {
            var batch = MessageExamples.batch
            batch.entries = [entry]
            #expect(try Batch(bytes: batch.bytes).entries.isPlain == EntryRun([entry]).isPlain)
        }
    }

    @Test func `says how many of its entries fit into a number of bytes, and always one`() {
        let run = EntryRun(entries)
        let sizes = [9, 6, 39, 8]
        for start in 0..<4 {
            for limit in 0...70 {
                var total = 0
                let fitting = sizes[start...].prefix { size in
                    total += size
                    return total <= limit
                }
                #expect(run.count(from: start, bytesMax: limit) == max(1, fitting.count))
            }
        }
        #expect(run.count(from: 4, bytesMax: 100) == 0)
    }

    @Test func `keep the places of their events in traces, of which one that is not sampled is left out`() throws {
        let trace = try #require(MessageExamples.trace)
        let batch = MessageExamples.traced
        let entries = try Batch(bytes: batch.bytes).entries
        #expect(Array(entries) == Array(batch.entries))
        #expect(entries.map(\.trace) == [trace, trace, trace])
        #expect(entries.indices.map { entries.trace(of: entries.head(at: $0)) } == [trace, trace, trace])
        #expect(entries.map { Array($0.payload) } == [[1], [2], [3]])
        var reader = ByteReader(batch.entries.bytes)
        for entry in batch.entries { #expect(try Entry(from: &reader) == entry) }
        let silent = TraceContext(high: 1, low: 2, span: 3, isSampled: false)
        #expect(EntryRun([Entry(kind: .event, trace: silent)]) == EntryRun([Entry(kind: .event)]))
    }

    @Test func `are malformed if a trace has no ID, or is not sampled`() throws {
        let bytes = MessageExamples.traced.bytes
        // The first entry begins at 56, and its context at 58.
        for (range, value): (Range<Int>, UInt8) in [(58..<74, 0), (74..<82, 0), (82..<83, 0), (82..<83, 3)] {
            var damaged = bytes
            for index in range { damaged[index] = value }
            #expect(throws: WireError.self) { try Batch(bytes: damaged) }
        }
        #expect(try Batch(bytes: bytes) == MessageExamples.traced)
    }

    @Test func `are no entries with flags that their kind cannot have`() throws {
        let effect = EffectID(feedback: 3, seq: Seq(700), index: 2)
        for kind in 1...4 {
            let entry = Entry(
                kind: try #require(Entry.Kind(rawValue: UInt8(kind))), effect: effect,
                attempt: Attempt(epoch: 1, count: 1))
            var batch = MessageExamples.batch
            batch.entries = [entry]
            for flags: UInt8 in [1, 3, 5, 7, 9, 17, 23, 25, 33, 0xff] {
                var bytes = batch.bytes
                bytes[57] = flags
                if flags & 16 != 0, let trace = MessageExamples.trace {
                    var writer = ByteWriter()
                    writer.trace(trace)
                    bytes.insert(contentsOf: writer.bytes, at: 90)
                }
                let isSound = flags <= 3 || [5, 7, 17, 23].contains(flags) && kind == 1
                #expect(((try? Batch(bytes: bytes)) != nil) == isSound, "kind \(kind), flags \(flags)")
            }
        }
    }

    @Test(arguments: 1...8 as ClosedRange<UInt64>)
    func `are the same for who reads them with care and once more`(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var soundCount = 0
        for _ in 0..<4000 {
            let size: UInt32 = [0, 1, 5, 40, 0x7fff_ffff, 0x8000_0000, .max].randomElement(using: &random) ?? 0
            var bytes = [UInt8.random(in: 0...5, using: &random), UInt8.random(in: 0...20, using: &random)]
            if bytes[1] & 1 == 1 { for _ in 0..<32 { bytes.append(.random(in: 0...255, using: &random)) } }
            if bytes[1] & 16 != 0 {
                for _ in 0..<24 { bytes.append(.random(in: 0...255, using: &random)) }
                bytes.append(.random(in: 0...1, using: &random))
            }
            withUnsafeBytes(of: size.littleEndian) { bytes += $0 }
            bytes += [UInt8](repeating: 7, count: Int.random(in: 0...41, using: &random))
            bytes.removeLast(Int.random(in: 0...3, using: &random))
            var (reader, other) = (ByteReader(bytes), ByteReader(bytes))
            let careful = try? EntryHead(from: &reader)
            let run = try? EntryRun(1, from: &other, in: bytes)
            #expect((run == nil) == (careful == nil), "\(bytes)")
            guard let careful else { continue }
            soundCount += 1
            #expect(run?.byteCount == reader.position && other.position == reader.position)
            let trusting = EntryHead(trusting: bytes.span, at: 0)
            #expect(trusting == careful)
        }
        #expect(soundCount > 100)
    }
}
