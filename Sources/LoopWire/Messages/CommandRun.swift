import CBOR
import LoopCollections
package import LoopCore

/// Consecutive commands in the bytes in which they are sent. The reducer encodes each once, as soon as it is made.
///
/// A slice shares the bytes and keeps its indices.
package struct CommandRun: RandomAccessCollection, Equatable, Sendable {
    private var run = RunBytes()

    /// Creates an empty run.
    package init() {}

    /// Creates a run of these commands, and encodes them.
    package init(_ commands: some Sequence<Command>) {
        for command in commands { append(command) }
    }

    /// Reads untrusted commands.
    init(_ count: Int, from reader: inout ByteReader) throws(WireError) {
        run = RunBytes(Array(reader.rest), from: 0, capacity: count)
        let start = reader.position
        for _ in 0..<count {
            _ = try Command(from: &reader)
            run.accept(upTo: reader.position - start)
        }
    }

    /// The index of the first command: 0 in a whole run, the lower bound in a slice.
    package var startIndex: Int { run.startIndex }
    /// The index after the last command.
    package var endIndex: Int { run.endIndex }

    /// The size of the commands in bytes.
    package var byteCount: Int { run.byteCount }

    /// The bytes of the commands, as they are sent.
    package var bytes: ArraySlice<UInt8> { run.bytes }

    /// The command at an index, decoded at each call. The index must be in `startIndex..<endIndex`.
    package subscript(position: Int) -> Command {
        Command(trusting: run.storage.span, at: run.start(of: position))
    }

    /// The commands of a range, which share the bytes and keep their indices. The range must be within the run's.
    package subscript(range: Range<Int>) -> CommandRun {
        var slice = self
        slice.run.slice(range)
        return slice
    }

    /// How many commands from an index on fit into `bytesMax` bytes. At least 1, even if it is larger; 0 at the end.
    package func count(from start: Int, bytesMax: Int) -> Int { run.count(from: start, bytesMax: bytesMax) }

    // MARK: Writing

    /// Encodes a command and appends it. The run must not be a slice.
    package mutating func append(_ command: Command) {
        switch command {
        case .start(let grant):
            run.append(1 + grant.byteCount) { output in
                output.append(Command.Kind.start.rawValue)
                grant.writeHead(to: &output)
                output.append(grant.request.span)
            }
        case .update, .cancel:
            var writer = ByteWriter()
            command.write(to: &writer)
            run.append(writer.count) { $0.append(writer.bytes.span) }
        }
    }

    /// Removes one command. The run must not be a slice.
    package mutating func remove(at position: Int) { run.remove(at: position) }

    /// Whether a command starts, or cancels, an attempt of an effect.
    package func does(_ kind: Command.Kind, _ effect: EffectID, _ attempt: Attempt, at position: Int) -> Bool {
        let start = run.start(of: position)
        let bytes = run.storage.span
        return bytes[start] == kind.rawValue && bytes.attempt(at: start + 17) == attempt
            && bytes.effect(at: start + 1) == effect
    }

    /// Reserves capacity for a number of bytes.
    package mutating func reserve(_ byteCount: Int) { run.reserve(byteCount) }
}

extension CommandRun: ExpressibleByArrayLiteral {
    /// Creates a run of the commands of a literal.
    package init(arrayLiteral commands: Command...) { self.init(commands) }
}

extension Command {
    /// The first byte of a command.
    package enum Kind: UInt8, Sendable {
        case start = 1
        case update = 2
        case cancel = 3
    }

    /// Reads a command that is known to be valid.
    fileprivate init(trusting bytes: Span<UInt8>, at offset: Int) {
        /// The bytes that follow the count of 4 bytes.
        func request(countAt offset: Int) -> [UInt8] {
            let (start, count) = (offset + 4, Int(bytes.number(at: offset, as: UInt32.self)))
            return Array(bytes.extracting(start..<start + count))
        }
        let (effect, attempt) = (bytes.effect(at: offset + 1), bytes.attempt(at: offset + 17))
        switch Kind(rawValue: bytes[offset]) {
        case .start:
            let (flags, end) = (bytes[offset + 45], offset + 46)
            let trace = flags & 2 != 0 ? bytes.trace(at: end) : nil
            self = .start(
                Grant(
                    effect: effect, attempt: attempt, version: Seq(bytes.number(at: offset + 33)),
                    failures: bytes.number(at: offset + 41), isResumed: flags & 1 != 0,
                    request: request(countAt: flags & 2 != 0 ? end + TraceContext.byteCount : end), trace: trace))
        case .update:
            self = .update(
                effect, attempt, version: Seq(bytes.number(at: offset + 33)), request: request(countAt: offset + 41))
        case .cancel, nil: self = .cancel(effect, attempt)
        }
    }
}
