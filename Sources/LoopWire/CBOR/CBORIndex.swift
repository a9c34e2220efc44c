/// One pass over a document that finds everything that can be wrong with its form, and where each container ends.
///
/// After it, reading needs no bounds checks against announced lengths and steps over any item at once, however much is
/// in it: the whole work of decoding stays in proportion to the document's size. Containers (arrays, maps, strings of
/// indefinite length) are numbered in the order in which they begin; nothing is reserved for what is only announced.
final class CBORIndex {
    /// A container, as found by the pass. Offsets count from the document's start.
    struct Container {
        /// The first byte after the head.
        var start: UInt32
        /// The first byte after the last element; before the break of an indefinite length.
        var contentEnd: UInt32
        /// The first byte after the container.
        var end: UInt32
        /// The number of the first container that begins after this one.
        var next: UInt32
        /// How many elements, pairs or chunks it holds.
        var count: UInt32
        /// Where the last look-up in a map ended; the next key asked for is most often there.
        var hintOffset: UInt32
        var hintContainer: UInt32
    }

    /// An item: where its bytes begin, and the number of the first container that begins there or later.
    struct Item {
        var offset: UInt32
        var container: UInt32

        static let root = Item(offset: 0, container: 0)
    }

    let base: UnsafePointer<UInt8>
    @exclusivity(unchecked) private(set) var count: Int
    @exclusivity(unchecked) private(set) var containers: UnsafeMutablePointer<Container>
    @exclusivity(unchecked) private(set) var containerCount = 0
    @exclusivity(unchecked) private var containerCapacity = 0

    /// Reads the document through.
    ///
    /// - Parameter isValid: also refuse what is well-formed but not valid: the same key twice, text that is not UTF-8.
    init(_ bytes: UnsafeBufferPointer<UInt8>, limits: CBORLimits, isValid: Bool = true) throws(WireError) {
        guard let base = bytes.baseAddress, bytes.count > 0 else {
            throw .truncated(needed: 1, have: 0, what: "CBOR item")
        }
        guard bytes.count <= limits.bytesMax else {
            throw .tooLarge(what: "CBOR document", size: bytes.count, limit: limits.bytesMax)
        }
        self.base = base
        count = bytes.count
        containerCapacity = 4
        containers = .allocate(capacity: containerCapacity)
        let scan = CBORScan(base: base, count: bytes.count, depthMax: limits.depthMax, isValid: isValid)
        try scan.run(self)
    }

    deinit { containers.deallocate() }

    func append(start: Int) -> Int {
        if containerCount == containerCapacity { grow() }
        (containers + containerCount).initialize(
            to: Container(
                start: UInt32(start), contentEnd: 0, end: 0, next: 0, count: 0, hintOffset: UInt32(start),
                hintContainer: UInt32(containerCount + 1)))
        containerCount += 1
        return containerCount - 1
    }

    func finish(_ container: Int, count: Int, contentEnd: Int, end: Int) {
        let place = containers + container
        place.pointee.contentEnd = UInt32(contentEnd)
        place.pointee.end = UInt32(end)
        place.pointee.next = UInt32(containerCount)
        place.pointee.count = UInt32(count)
    }

    /// Forgets the document, whose memory is about to go: every later read finds nothing.
    func close() {
        count = 0
        containerCount = 0
    }

    private func grow() {
        let moved = UnsafeMutablePointer<Container>.allocate(capacity: containerCapacity * 2)
        moved.moveInitialize(from: containers, count: containerCount)
        containers.deallocate()
        containers = moved
        containerCapacity *= 2
    }
}
