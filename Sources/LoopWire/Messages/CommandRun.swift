import CBOR
package import LoopCore

/// Commands in sequence, in the bytes in which they travel: the reducer writes each once, as soon as it is made.
///
/// A slice shares the bytes and keeps its indices.
public struct CommandRun: RandomAccessCollection, Equatable, Sendable {
    private var run = RunBytes()

    /// Creates an empty run.
    public init() {}

    /// Creates a run of these commands, which are encoded now.
    public init(_ commands: some Sequence<Command>) {
        for command in commands { append(command) }
    }

    /// Reads commands that may be anything.
    init(_ count: Int, from reader: inout ByteReader) throws(WireError) {
        run = RunBytes(Array(reader.rest), from: 0, capacity: count)
        var end = 0
        for _ in 0..<quickly(count, &reader, &end) {
            let start = reader.position
            _ = try Command(from: &reader)
            end += reader.position - start
            run.accept(upTo: end)
        }
    }

    /// Takes the commands with which nothing is wrong.
    /// - Returns: how many are left from the first one with which something is, for the reader to say what.
    private mutating func quickly(_ count: Int, _ reader: inout ByteReader, _ end: inout Int) -> Int {
        let bytes = run.storage
        bytes.withUnsafeBytes { bytes in
            while run.endIndex < count, let size = Command.size(bytes, at: end) {
                end += size
                run.accept(upTo: end)
            }
        }
        // Within what there is: it was just looked at.
        try? reader.skip(end)
        return count - run.endIndex
    }

    /// The index of the first command: 0 in a whole run, the lower bound in a slice.
    public var startIndex: Int { run.startIndex }
    /// The index after the last command.
    public var endIndex: Int { run.endIndex }

    /// How many bytes the commands take.
    public var byteCount: Int { run.byteCount }

    /// The bytes of the commands, as they travel.
    public var bytes: ArraySlice<UInt8> { run.bytes }

    /// The command at an index, decoded at each call. The index must be in `startIndex..<endIndex`.
    public subscript(position: Int) -> Command {
        let start = run.start(of: position)
        return run.storage.withUnsafeBytes { Command(trusting: $0, at: start) }
    }

    /// The commands of a range, which share the bytes and keep their indices. The range must be within the run's.
    public subscript(range: Range<Int>) -> CommandRun {
        var slice = self
        slice.run.slice(range)
        return slice
    }

    /// How many commands from an index on take at most `bytesMax` bytes. At least 1, even if it is larger; 0 at the
    /// end.
    public func count(from start: Int, bytesMax: Int) -> Int { run.count(from: start, bytesMax: bytesMax) }

    // MARK: Writing

    /// Encodes a command and appends it. The run must not be a slice.
    public mutating func append(_ command: Command) {
        switch command {
        case .start(let grant):
            grant.request.withUnsafeBytes { request in
                appendStart(
                    of: grant.effect, grant.attempt, version: grant.version, failures: grant.failures,
                    isResumed: grant.isResumed, request: request)
            }
        case .update, .cancel:
            var writer = ByteWriter()
            command.write(to: &writer)
            writer.bytes.withUnsafeBytes { bytes in run.append(bytes.count) { $0.copyMemory(from: bytes) } }
        }
    }

    /// Appends a start, from what a `Grant` has.
    package mutating func appendStart(
        of effect: EffectID, _ attempt: Attempt, version: Seq, failures: UInt32, isResumed: Bool,
        request: UnsafeRawBufferPointer
    ) {
        run.append(50 + request.count) { room in
            room[0] = Command.Kind.start.rawValue
            room.store(effect, attempt, at: 1)
            room.storeBytes(of: version.value.littleEndian, toByteOffset: 33, as: UInt64.self)
            room.storeBytes(of: failures.littleEndian, toByteOffset: 41, as: UInt32.self)
            room[45] = isResumed ? 1 : 0
            room.storeBytes(of: UInt32(request.count).littleEndian, toByteOffset: 46, as: UInt32.self)
            UnsafeMutableRawBufferPointer(rebasing: room[50...]).copyMemory(from: request)
        }
    }

    /// Takes one of a whole run out.
    package mutating func remove(at position: Int) { run.remove(at: position) }

    /// Whether a command starts, or cancels, an attempt of an effect.
    package func does(_ kind: Command.Kind, _ effect: EffectID, _ attempt: Attempt, at position: Int) -> Bool {
        let start = run.start(of: position)
        return run.storage.withUnsafeBytes { bytes in
            bytes[start] == kind.rawValue && bytes.attempt(at: start + 17) == attempt
                && bytes.effect(at: start + 1) == effect
        }
    }

    /// Makes room for so many bytes.
    package mutating func reserve(_ byteCount: Int) { run.reserve(byteCount) }
}

extension CommandRun: ExpressibleByArrayLiteral {
    /// Creates a run of the commands of a literal.
    public init(arrayLiteral commands: Command...) { self.init(commands) }
}

extension Command {
    /// The first byte of a command.
    package enum Kind: UInt8, Sendable {
        case start = 1
        case update = 2
        case cancel = 3
    }

    /// How large a command is; nil: it is none, or not all of it is there.
    fileprivate static func size(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> Int? {
        let there = bytes.count - offset
        guard there >= 33, let kind = Kind(rawValue: bytes[offset]) else { return nil }
        // What stands before the request, with its count.
        let head: Int
        switch kind {
        case .start:
            guard there >= 50, bytes[offset + 45] <= 1 else { return nil }
            head = 50
        case .update:
            guard there >= 45 else { return nil }
            head = 45
        case .cancel: return 33
        }
        let size = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset + head - 4, as: UInt32.self))
        guard Int(size) <= there - head else { return nil }
        return head + Int(size)
    }

    /// Reads a command that was written or read before.
    fileprivate init(trusting bytes: UnsafeRawBufferPointer, at offset: Int) {
        func word(_ more: Int) -> UInt64 {
            UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset + more, as: UInt64.self))
        }
        func half(_ more: Int) -> UInt32 {
            UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset + more, as: UInt32.self))
        }
        let (effect, attempt) = (bytes.effect(at: offset + 1), bytes.attempt(at: offset + 17))
        switch Kind(rawValue: bytes[offset]) {
        case .start:
            let request = offset + 50
            self = .start(
                Grant(
                    effect: effect, attempt: attempt, version: Seq(word(33)), failures: half(41),
                    isResumed: bytes[offset + 45] == 1,
                    request: RequestBytes(UnsafeRawBufferPointer(rebasing: bytes[request..<request + Int(half(46))]))))
        case .update:
            let request = offset + 45
            self = .update(
                effect, attempt, version: Seq(word(33)),
                request: RequestBytes(UnsafeRawBufferPointer(rebasing: bytes[request..<request + Int(half(41))])))
        case .cancel, nil: self = .cancel(effect, attempt)
        }
    }
}
