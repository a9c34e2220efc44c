import CBOR
import LoopWire

/// Work on a copy of the state that would make the loop pause. Another thread does it, and returns the result.
///
/// The copy shares its tracked dictionaries with the state that continues, so that copying a large state is cheap.
package struct BackgroundJob: Sendable {
    enum Work: Sendable {
        /// Hashes everything that the journal determines.
        case digest(JournaledState)
        /// Encodes the first chunks of the state or of a section.
        case encoding(any LoopState, section: Int?, StateForm, chunkBytes: Int)
        /// Encodes the next chunks.
        case more(StateChunks, chunkBytes: Int)
    }

    enum Outcome: Sendable {
        case digest(hash: UInt64, bytes: Int)
        /// The chunks, or nil if the state cannot be encoded.
        case encoding(EncodedChunks?)
    }

    /// The result of a background job, for the machine that requested it.
    package struct Result: Sendable {
        let epoch: Epoch
        let number: UInt64
        let outcome: Outcome
    }

    let epoch: Epoch
    let number: UInt64
    let work: Work

    /// Whether it hashes the state, and encodes nothing for observers.
    package var isDigest: Bool { if case .digest = work { true } else { false } }

    /// Does the work, on any thread.
    package func run() -> Result {
        switch work {
        case .digest(let core):
            let (hash, bytes) = core.digest()
            return Result(epoch: epoch, number: number, outcome: .digest(hash: hash, bytes: bytes))
        case .encoding(let loopState, let section, let form, let chunkBytes):
            let chunks = try? EncodedChunks(loopState, section, form, chunkBytes: chunkBytes)
            return Result(epoch: epoch, number: number, outcome: .encoding(chunks))
        case .more(let rest, let chunkBytes):
            let chunks = try? EncodedChunks(rest, chunkBytes: chunkBytes)
            return Result(epoch: epoch, number: number, outcome: .encoding(chunks))
        }
    }
}

/// Some chunks of a state: few, so that the first leave early, but enough that a large state takes few background jobs.
struct EncodedChunks: Sendable {
    private(set) var chunks: [[UInt8]] = []
    /// What remains to be encoded after them.
    private(set) var rest: StateChunks

    private static var countMax: Int { 8 }

    init(_ loopState: any LoopState, _ section: Int?, _ form: StateForm, chunkBytes: Int) throws {
        switch form {
        case .whole: try self.init(StateChunks(whole: loopState.encodedState(section: section)), chunkBytes: chunkBytes)
        case .chunks: try self.init(loopState.chunks(section: section), chunkBytes: chunkBytes)
        }
    }

    init(_ rest: StateChunks, chunkBytes: Int) throws(WireError) {
        self.rest = rest
        while !self.rest.isAtEnd, chunks.count < Self.countMax {
            chunks.append(try self.rest.next(byteCount: chunkBytes))
        }
    }
}
