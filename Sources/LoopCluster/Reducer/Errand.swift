import CBOR
import LoopCore
import LoopWire

/// Work on a copy of the state that would make the loop pause: another thread does it, and brings back what came of it.
///
/// The copy shares what is large with the state that goes on, as far as it is in tracked dictionaries.
public struct Errand: Sendable {
    enum Work: Sendable {
        /// Hashes everything that the journal determines.
        case digest(JournaledCore)
        /// Encodes the state, or a section of it: its first pieces.
        case encoding(any ErasedFold, section: Int?, StateForm, pieceBytes: Int)
        /// Encodes its next pieces.
        case more(StatePieces, pieceBytes: Int)
    }

    enum Outcome: Sendable {
        case digest(hash: UInt64, bytes: Int)
        /// Nil: it cannot be encoded.
        case encoding(EncodedPieces?)
    }

    /// What came of an errand, for the machine that gave it.
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
        case .encoding(let fold, let section, let form, let pieceBytes):
            let pieces = try? EncodedPieces(fold, section, form, pieceBytes: pieceBytes)
            return Result(epoch: epoch, number: number, outcome: .encoding(pieces))
        case .more(let rest, let pieceBytes):
            let pieces = try? EncodedPieces(rest, pieceBytes: pieceBytes)
            return Result(epoch: epoch, number: number, outcome: .encoding(pieces))
        }
    }
}

/// Some pieces of a state: so many that the first leave early, and that a large state takes few errands.
struct EncodedPieces: Sendable {
    private(set) var pieces: [[UInt8]] = []
    /// What is to be encoded behind them.
    private(set) var rest: StatePieces

    private static var countMax: Int { 8 }

    init(_ fold: any ErasedFold, _ section: Int?, _ form: StateForm, pieceBytes: Int) throws {
        switch form {
        case .whole: try self.init(StatePieces(whole: fold.encodedState(section: section)), pieceBytes: pieceBytes)
        case .pieces: try self.init(fold.pieces(section: section), pieceBytes: pieceBytes)
        }
    }

    init(_ rest: StatePieces, pieceBytes: Int) throws(WireError) {
        self.rest = rest
        while !self.rest.isAtEnd, pieces.count < Self.countMax {
            pieces.append(try self.rest.next(byteCount: pieceBytes))
        }
    }
}

/// Errands, from when they are wished for until their results are used.
extension ReducerCore {
    /// - Returns: the errand's number.
    mutating func wish(for work: Errand.Work) -> UInt64 {
        errandsCount += 1
        errands.append(Errand(epoch: core.epoch, number: errandsCount, work: work))
        return errandsCount
    }

    /// What came of an errand. That of an earlier machine is of no use to this one, and is passed over.
    public mutating func receive(_ result: Errand.Result) {
        guard result.epoch == core.epoch else { return }
        switch result.outcome {
        case .digest(let hash, let bytes):
            guard hashing.errand == result.number else { return }
            hashing.errand = nil
            finishHash(hash, bytes)
        case .encoding(let pieces): continueTransfer(result.number, pieces)
        }
    }
}
