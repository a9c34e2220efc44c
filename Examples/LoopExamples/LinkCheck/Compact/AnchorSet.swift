/// The anchors of a page, as sorted 64-bit hashes of their names: eight bytes each, little-endian, as in events.
struct AnchorSet: Sendable, Equatable {
    let bytes: [UInt8]

    /// - Parameter bytes: sorted hashes; a rest of less than eight bytes is ignored.
    init(bytes: [UInt8]) { self.bytes = bytes }

    /// - Parameter names: the names in the form of `FragmentText`.
    init(names: some Sequence<String>) { bytes = Self.packed(names.map { Self.hash($0.utf8.span) }) }

    /// The hashes, sorted and packed.
    static func packed(_ hashes: [UInt64]) -> [UInt8] { [UInt8](packing: hashes.sorted()) }

    /// Whether the fragment, in the form of `FragmentText`, names one of these anchors.
    ///
    /// A range of lines such as `12-34`, which documentation tools write and scripts understand, names one if both ends are
    /// anchors.
    func contains(_ fragment: Span<UInt8>) -> Bool {
        if contains(hash: Self.hash(fragment)) { return true }
        guard let dash = Self.dash(inRange: fragment) else { return false }
        return contains(hash: Self.hash(fragment.extracting(0..<dash)))
            && contains(hash: Self.hash(fragment.extracting((dash + 1)..<fragment.count)))
    }

    /// FNV-1a (Fowler, Noll, Vo), equal in every process and on every machine.
    static func hash(_ name: Span<UInt8>) -> UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for index in name.indices { hash = (hash ^ UInt64(name[index])) &* 0x100_0000_01b3 }
        return hash
    }

    private func contains(hash: UInt64) -> Bool {
        var low = 0
        var high = bytes.count / 8
        while low < high {
            let middle = (low + high) / 2
            let entry = bytes.number(middle)
            if entry == hash { return true }
            if entry < hash { low = middle + 1 } else { high = middle }
        }
        return false
    }

    /// The offset of the dash in digits, dash, digits; or nil if the text has another form.
    private static func dash(inRange text: Span<UInt8>) -> Int? {
        var dash: Int?
        for index in text.indices {
            switch text[index] {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): continue
            case UInt8(ascii: "-") where dash == nil && index > 0 && index + 1 < text.count: dash = index
            default: return nil
            }
        }
        return dash
    }
}

extension [UInt8] {
    /// The numbers in eight bytes each, little-endian.
    init(packing numbers: [UInt64]) {
        self = []
        reserveCapacity(8 * numbers.count)
        for number in numbers {
            for shift in stride(from: UInt64(0), to: 64, by: 8) { append(UInt8(truncatingIfNeeded: number >> shift)) }
        }
    }

    /// The number at an index among those that were packed.
    func number(_ index: Int) -> UInt64 {
        self[8 * index..<8 * index + 8].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
}
