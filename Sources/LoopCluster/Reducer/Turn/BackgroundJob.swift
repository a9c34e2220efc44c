import CBOR
import LoopCore
import LoopWire

/// Work on a copy of the state that would make the loop pause: another thread does it, and brings back what came of it.
///
/// The copy shares what is large with the state that goes on, as far as it is in tracked dictionaries.
public struct BackgroundJob: Sendable {
    enum Work: Sendable {
        /// Hashes everything that the journal determines.
        case digest(JournaledCore)
        /// Encodes the state, or a section of it: its first chunks.
        case encoding(any ErasedFold, section: Int?, StateForm, chunkBytes: Int)
        /// Encodes its next chunks.
        case more(StateChunks, chunkBytes: Int)
    }

    enum Outcome: Sendable {
        case digest(hash: UInt64, bytes: Int)
        /// Nil: it cannot be encoded.
        case encoding(EncodedChunks?)
    }

    /// What came of a background job, for the machine that gave it.
    public struct Result: Sendable {
        let epoch: Epoch
        let number: UInt64
        let outcome: Outcome
    }

    let epoch: Epoch
    let number: UInt64
    let work: Work

    /// Whether it hashes, and encodes nothing for observers.
    package var isDigest: Bool { if case .digest = work { true } else { false } }

    /// Does the work, on any thread.
    public func run() -> Result {
        switch work {
        case .digest(let core):
            let (hash, bytes) = core.digest()
            return Result(epoch: epoch, number: number, outcome: .digest(hash: hash, bytes: bytes))
        case .encoding(let fold, let section, let form, let chunkBytes):
            let chunks = try? EncodedChunks(fold, section, form, chunkBytes: chunkBytes)
            return Result(epoch: epoch, number: number, outcome: .encoding(chunks))
        case .more(let rest, let chunkBytes):
            let chunks = try? EncodedChunks(rest, chunkBytes: chunkBytes)
            return Result(epoch: epoch, number: number, outcome: .encoding(chunks))
        }
    }
}

/// Some chunks of a state: few enough that the first leave early, and enough that a large state takes few background jobs.
struct EncodedChunks: Sendable {
    private(set) var chunks: [[UInt8]] = []
    /// What is to be encoded behind them.
    private(set) var rest: StateChunks

    private static var countMax: Int { 8 }

    init(_ fold: any ErasedFold, _ section: Int?, _ form: StateForm, chunkBytes: Int) throws {
        switch form {
        case .whole: try self.init(StateChunks(whole: fold.encodedState(section: section)), chunkBytes: chunkBytes)
        case .chunks: try self.init(fold.chunks(section: section), chunkBytes: chunkBytes)
        }
    }

    init(_ rest: StateChunks, chunkBytes: Int) throws(WireError) {
        self.rest = rest
        while !self.rest.isAtEnd, chunks.count < Self.countMax {
            chunks.append(try self.rest.next(byteCount: chunkBytes))
        }
    }
}
