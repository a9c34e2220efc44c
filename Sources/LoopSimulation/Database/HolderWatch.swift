/// Whether the holder of a journal gives a sign of life, by the steady clock of the watching process.
struct HolderWatch {
    private var sign: JournalRow.Sign?
    /// The time at which the sign was first seen.
    private var since: UInt64 = 0

    /// Judges a row that was just read.
    /// - Parameters:
    ///   - lease: the time within which the holder renews, in nanoseconds.
    ///   - time: the time of the watching process's steady clock, in nanoseconds.
    /// - Returns: whether nothing has changed for 1.15 leases.
    mutating func isSilent(_ new: JournalRow.Sign, lease: UInt64, at time: UInt64) -> Bool {
        guard new == sign else {
            (sign, since) = (new, time)
            return false
        }
        return time - since >= lease / 100 * 115
    }
}
