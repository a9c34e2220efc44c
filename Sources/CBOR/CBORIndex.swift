// Unsafe: the document's bytes belong to the caller until `close()`.

/// Where each container of a document ends, found by one pass that also finds everything that can be wrong with its form.
///
/// After it, reading needs no bounds checks against announced lengths and steps over any item at once, however much is
/// in it: the whole work of decoding stays in proportion to the document's size. Containers (arrays, maps, strings of
/// indefinite length) are numbered in the order in which they begin. Nothing is reserved for what is only announced.
@safe struct CBORIndex {
    /// A container that the pass has found. Offsets count from the document's start.
    struct Container {
        /// The first byte after the head.
        var start: UInt32
        /// The first byte after the last element, which is before the break of an indefinite length.
        var contentEnd: UInt32 = 0
        /// The first byte after the container.
        var end: UInt32 = 0
        /// The number of the first container that begins after this one.
        var next: UInt32 = 0
        /// How many elements, pairs or chunks it holds.
        var count: UInt32 = 0
        /// Where the last look-up in a map ended. The next key asked for is most often there.
        var hint: Item
    }

    /// An item: the offset of its bytes, and the number of the first container that begins there or later.
    struct Item {
        var offset: UInt32
        var container: UInt32

        static let root = Item(offset: 0, container: 0)
    }

    private(set) var base = unsafe UnsafePointer(UnsafeMutablePointer<UInt8>.allocate(capacity: 1))
    var containers = RawStack<Container>(capacity: 64)
    private let shortLengths = unsafe Self.shortLengths

    /// Reads a whole document.
    ///
    /// - Parameter isValid: also refuse what is well-formed but not valid: the same key twice, text that is not UTF-8.
    mutating func read(
        _ bytes: UnsafeBufferPointer<UInt8>, _ limits: CBORLimits, isValid: Bool
    ) throws(WireError) {
        guard let base = bytes.baseAddress, bytes.count > 0 else {
            throw .truncated(needed: 1, have: 0, what: "CBOR item")
        }
        guard bytes.count <= limits.bytesMax else {
            throw .tooLarge(what: "CBOR document", size: bytes.count, limit: limits.bytesMax)
        }
        unsafe self.base = unsafe base
        let scan = unsafe CBORScan(base: base, count: bytes.count, depthMax: limits.depthMax, isValid: isValid)
        let end = try scan.item(at: 0, depth: 0, &self)
        guard end == bytes.count else { throw .trailingBytes(count: bytes.count - end, offset: end) }
    }

    /// How long an item is by its first byte alone, or 0 if that does not tell.
    @inline(__always)
    func shortLength(at offset: Int) -> Int { unsafe Int(shortLengths[Int(base[offset])]) }

    nonisolated(unsafe) private static let shortLengths: UnsafePointer<UInt8> = {
        let lengths = UnsafeMutablePointer<UInt8>.allocate(capacity: 256)
        for first in 0..<256 {
            let (major, info) = (first >> 5, UInt8(first & 31))
            unsafe lengths[first] =
                switch (major, info) {
                case (0, 0..<28), (1, 0..<28), (7, 0..<24), (7, 25..<28): 1 + UInt8(width(info))
                case (2, 0..<24), (3, 0..<24): 1 + info
                default: 0
                }
        }
        return unsafe UnsafePointer(lengths)
    }()

    /// Forgets the document, whose memory is about to be freed.
    mutating func close() { containers.empty(keeping: 1 << 14) }

    /// Gives `body` the index of a document.
    static func with<R>(
        _ bytes: [UInt8], _ limits: CBORLimits, isValid: Bool, _ body: (CBORIndex) throws(WireError) -> R
    ) throws(WireError) -> R {
        try unsafe bytes.withUnsafeBufferPointer { (buffer) throws(WireError) -> R in
            let core = try unsafe DecodingCore.open(buffer, limits, nil, isValid: isValid)
            defer { core.close() }
            return try body(core.index)
        }
    }
}
