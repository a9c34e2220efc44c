/// The anchors of a page, as sorted 64-bit hashes of their names, as in events.
struct AnchorSet {
    let hashes: [UInt64]

    /// Whether the fragment, in the form of `FragmentText`, names one of these anchors. The empty fragment is that of a link without
    /// one, and always there.
    ///
    /// A range of lines such as `12-34`, which documentation tools write and scripts understand, names one if both ends are
    /// anchors.
    func contains(_ fragment: String) -> Bool {
        if fragment.isEmpty || contains(hash: Self.hash(fragment.utf8)) { return true }
        let ends = fragment.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        return ends.count == 2
            && ends.allSatisfy { end in
                !end.isEmpty && end.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
                    && contains(hash: Self.hash(end))
            }
    }

    /// FNV-1a (Fowler, Noll, Vo), equal in every process and on every machine.
    static func hash(_ name: some Sequence<UInt8>) -> UInt64 {
        name.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    }

    private func contains(hash: UInt64) -> Bool {
        var low = 0
        var high = hashes.count
        while low < high {
            let middle = (low + high) / 2
            if hashes[middle] < hash { low = middle + 1 } else { high = middle }
        }
        return low < hashes.count && hashes[low] == hash
    }
}
