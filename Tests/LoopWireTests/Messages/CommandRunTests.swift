import CBOR
import LoopCore
import Testing

@testable import LoopWire

@Suite struct `Commands that travel together` {
    private let effect = EffectID(feedback: 3, seq: Seq(700), index: 2)
    private let attempt = Attempt(epoch: 2, count: 1000)

    private var commands: [Command] {
        [
            .start(
                Grant(
                    effect: effect, attempt: attempt, version: Seq(700), failures: 3, isResumed: true, request: [1, 2])),
            .update(effect, attempt, version: Seq(701), request: [9]),
            .cancel(effect, attempt),
            .start(
                Grant(effect: effect, attempt: attempt, version: Seq(8), failures: 0, isResumed: false, request: [])),
            .start(MessageExamples.tracedGrant),
        ]
    }

    @Test func `are read as they were made, all of them or a part`() throws {
        let run = CommandRun(commands)
        #expect(Array(run) == commands)
        for start in 0...5 {
            for end in start...5 {
                let part = run[start..<end]
                #expect(Array(part) == Array(commands[start..<end]))
                var writer = ByteWriter()
                for command in commands[start..<end] { command.write(to: &writer) }
                #expect(Array(part.bytes) == writer.bytes)
                var reader = ByteReader(part.bytes)
                #expect(try CommandRun(end - start, from: &reader) == part)
                #expect(reader.isAtEnd)
            }
        }
    }

    @Test func `are an error wherever they are cut`() throws {
        let run = CommandRun(commands)
        for end in 0..<run.byteCount {
            var reader = ByteReader(run.bytes.prefix(end))
            #expect(throws: WireError.self) { try CommandRun(5, from: &reader) }
        }
    }

    @Test(arguments: 1...8 as ClosedRange<UInt64>)
    func `are the same for who reads one with care`(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var soundCount = 0
        for _ in 0..<2000 {
            let size: UInt32 = [0, 1, 5, 40, 0x7fff_ffff, 0x8000_0000, .max].randomElement(using: &random) ?? 0
            let kind = UInt8.random(in: 0...5, using: &random)
            var bytes = [kind]
            for _ in 0..<[1: 44, 2: 40][kind, default: 32] { bytes.append(.random(in: 0...255, using: &random)) }
            if kind == 1 { bytes.append(.random(in: 0...2, using: &random)) }
            if kind < 3 { withUnsafeBytes(of: size.littleEndian) { bytes += $0 } }
            bytes += [UInt8](repeating: 7, count: Int.random(in: 0...51, using: &random))
            bytes.removeLast(Int.random(in: 0...3, using: &random))
            var (reader, other) = (ByteReader(bytes), ByteReader(bytes))
            let careful = try? Command(from: &reader)
            let run = try? CommandRun(1, from: &other)
            #expect(run?.first == careful, "\(bytes)")
            guard careful != nil else { continue }
            soundCount += 1
            #expect(reader.position == other.position)
            #expect(run?.byteCount == reader.position)
        }
        #expect(soundCount > 100)
    }

    @Test func `can lose one from among them`() throws {
        for position in 0..<5 {
            var (run, rest) = (CommandRun(commands), commands)
            run.remove(at: position)
            rest.remove(at: position)
            #expect(Array(run) == rest)
            run.append(commands[position])
            #expect(Array(run) == rest + [commands[position]])
        }
    }

    @Test func `are counted by the bytes that they take, one at least`() throws {
        let run = CommandRun(commands)
        #expect(run.count(from: 0, bytesMax: 0) == 1)
        #expect(run.count(from: 0, bytesMax: 52 + 46) == 2)
        #expect(run.count(from: 1, bytesMax: 1000) == 4)
        #expect(run.count(from: 5, bytesMax: 1000) == 0)
    }
}
