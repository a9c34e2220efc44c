import LoopCore
import LoopWire

/// Work on a copy of the state that would make the loop pause: another thread does it, and brings back what came of it.
///
/// The copy shares what is large with the state that goes on, as far as it is in tracked dictionaries.
public struct Errand: Sendable {
    enum Work: Sendable {
        /// Hashes everything that the journal determines.
        case digest(JournaledCore)
        /// Encodes the state, or a section of it.
        case encoding(any ErasedFold, section: Int?)
    }

    enum Outcome: Sendable {
        case digest(hash: UInt64, bytes: Int)
        /// Nil: it cannot be encoded.
        case encoding([UInt8]?)
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

    /// Does the work, on any thread.
    public func run() -> Result {
        switch work {
        case .digest(let core):
            let (hash, bytes) = core.digest()
            return Result(epoch: epoch, number: number, outcome: .digest(hash: hash, bytes: bytes))
        case .encoding(let fold, let section):
            let bytes = try? fold.encodedState(section: section)
            return Result(epoch: epoch, number: number, outcome: .encoding(bytes))
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

    mutating func takeErrands() -> [Errand] {
        if errands.isEmpty { return [] }
        defer { errands.removeAll() }
        return errands
    }

    /// What an errand of an earlier machine came to is of no use to this one.
    mutating func receive(_ result: Errand.Result, at now: Moment) {
        guard result.epoch == core.epoch else { return }
        self.now = Moment.max(self.now, now)
        switch result.outcome {
        case .digest(let hash, let bytes):
            guard hashing.errand == result.number else { return }
            hashing.errand = nil
            finishHash(hash, bytes)
        case .encoding(let bytes): finishTransfer(result.number, bytes)
        }
    }
}
