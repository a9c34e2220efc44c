// Checks of several reducers and of the database that has their journal.
extension Check {
    /// The rows of the journal are one chain, and after a writer only one of a later term follows.
    static let oneLeaderForEachSeq = Check(name: "one leader for each seq") { evidence in
        guard let database = evidence.database else { return [] }
        var found: [String] = []
        if database.batches.isEmpty { found.append("the journal has no rows") }
        for (before, row) in zip(database.batches, database.batches.dropFirst()) {
            if row.positions.first != before.positions.last + 1 {
                found.append("position \(before.positions.last) is followed by \(row.positions.first)")
            }
            if row.term < before.term {
                found.append(
                    "position \(row.positions.first) is of term \(row.term), behind one of term \(before.term)")
            }
            // A row without events ends where the previous one does.
            if row.seqs.first != before.seqs.last + 1 || row.seqs.last < before.seqs.last {
                found.append("the row of seqs \(row.seqs.first) to \(row.seqs.last) is behind seq \(before.seqs.last)")
            }
        }
        return found
    }

    /// Every reducer that leads after the last fault reports the same state.
    static let reducersAgree = Check(name: "the reducers agree") { evidence in
        guard let database = evidence.database else { return [] }
        var found = database.reducers.filter { $0.value != evidence.stateJSON }.keys.sorted().map {
            "\($0) told another state when it led"
        }
        if database.reducers.count != database.reducerCount {
            found.append("of \(database.reducerCount) reducers \(database.reducers.count) have led at the end")
        }
        return found
    }

    /// Observers only move forward, get equal states at equal seqs, and get the last one in the end.
    static let observersAgree = Check(name: "the observers agree") { evidence in
        guard let database = evidence.database else { return [] }
        var found: [String] = []
        var digests: [UInt64: (name: String, digest: Int)] = [:]
        for (name, observed) in database.observers.sorted(by: { $0.key < $1.key }) {
            found += observed.stepsBack.map { "\(name) was shown \($0)" }
            if observed.stateJSON != evidence.stateJSON { found.append("\(name) was not shown the last state") }
            for (seq, digest) in observed.digests {
                if let other = digests[seq], other.digest != digest {
                    found.append("\(other.name) and \(name) were shown different states at \(seq)")
                }
                digests[seq] = (name, digest)
            }
        }
        return found
    }
}
