// Unsafe: the index owns the memory of its containers until `free()`; the document's bytes belong to the caller until
// `close()`.

/// One pass over a document that finds everything that can be wrong with its form, and where each container ends.
///
/// After it, reading needs no bounds checks against announced lengths and steps over any item at once, however much is
/// in it: the whole work of decoding stays in proportion to the document's size. Containers (arrays, maps, strings of
/// indefinite length) are numbered in the order in which they begin; nothing is reserved for what is only announced.
@safe struct CBORIndex {
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

    private(set) var base: UnsafePointer<UInt8>
    private(set) var count: Int
    /// How many bytes may be read from `base` on: the document's, and where it was copied, some after it.
    private(set) var readable: Int
    let shortLengths = unsafe Self.shortLengths
    private let textMasks = unsafe Self.textMasks
    private(set) var containers: UnsafeMutablePointer<Container>
    private(set) var containerCount = 0
    private(set) var containerCapacity: Int
    /// For the pass: the containers that are open, as deep as the limit allows.
    private var frames: UnsafeMutablePointer<CBORScan.Frame>
    private var frameCapacity: Int
    /// Where short documents are copied, so that their ends need no care.
    private let copy: UnsafeMutablePointer<UInt8>

    /// How long a document may be that is copied.
    private static var copyMax: Int { 512 }
    /// How many bytes may be read after it: more than an entry of a short key and a short value has.
    private static var copySlack: Int { 64 }

    /// An index of nothing, with memory for a few containers. The caller frees it.
    init() {
        containerCapacity = 64
        unsafe containers = unsafe Self.resized(nil, from: 0, to: containerCapacity)
        frameCapacity = CBORLimits.default.depthMax + 1
        unsafe frames = .allocate(capacity: frameCapacity)
        unsafe copy = .allocate(capacity: Self.copyMax + Self.copySlack)
        unsafe base = unsafe UnsafePointer(copy)
        count = 0
        readable = 0
    }

    func free() {
        unsafe RawMemory.free(containers, Self.byteCount(of: containerCapacity))
        unsafe frames.deallocate()
        unsafe copy.deallocate()
    }

    /// Gives `body` the index of a document and frees it.
    static func with<R>(
        _ bytes: [UInt8], _ limits: CBORLimits, isValid: Bool, _ body: (CBORIndex) throws(WireError) -> R
    ) throws(WireError) -> R {
        try unsafe bytes.withUnsafeBufferPointer { (buffer) throws(WireError) -> R in
            var index = CBORIndex()
            defer { index.free() }
            try unsafe index.read(buffer, limits: limits, isValid: isValid)
            return try body(index)
        }
    }

    /// Reads a document through.
    ///
    /// - Parameter isValid: also refuse what is well-formed but not valid: the same key twice, text that is not UTF-8.
    mutating func read(_ bytes: UnsafeBufferPointer<UInt8>, limits: CBORLimits, isValid: Bool) throws(WireError) {
        guard let base = bytes.baseAddress, bytes.count > 0 else {
            throw .truncated(needed: 1, have: 0, what: "CBOR item")
        }
        guard bytes.count <= limits.bytesMax else {
            throw .tooLarge(what: "CBOR document", size: bytes.count, limit: limits.bytesMax)
        }
        if unsafe CBORScan.isNumberOrBytes(base, bytes.count) {
            unsafe self.base = unsafe base
            count = bytes.count
            readable = bytes.count
            return
        }
        unsafe hold(base, bytes.count)
        let scan = unsafe CBORScan(
            base: self.base, count: count, readable: readable, shortLengths: shortLengths, textMasks: textMasks,
            depthMax: limits.depthMax, isValid: isValid)
        if limits.depthMax >= frameCapacity { growFrames(limits.depthMax + 1) }
        do {
            try unsafe scan.run(&self, frames)
        } catch {
            close()
            throw error
        }
    }

    /// Takes a document, whose memory stays where it is until it is closed.
    @inline(__always)
    private mutating func hold(_ bytes: UnsafePointer<UInt8>, _ count: Int) {
        self.count = count
        guard count <= Self.copyMax else {
            unsafe base = unsafe bytes
            readable = count
            return
        }
        unsafe copy.update(from: bytes, count: count)
        let end = unsafe UnsafeMutableRawPointer(copy + count)
        unsafe end.storeBytes(of: .zero, as: SIMD16<UInt8>.self)
        unsafe end.storeBytes(of: .zero, toByteOffset: 16, as: SIMD16<UInt8>.self)
        unsafe end.storeBytes(of: .zero, toByteOffset: 32, as: SIMD16<UInt8>.self)
        unsafe end.storeBytes(of: .zero, toByteOffset: 48, as: SIMD16<UInt8>.self)
        unsafe base = unsafe UnsafePointer(copy)
        readable = count &+ Self.copySlack
    }

    @inline(never)
    private mutating func growFrames(_ capacity: Int) {
        unsafe frames.deallocate()
        frameCapacity = capacity
        unsafe frames = .allocate(capacity: capacity)
    }

    /// Forgets the document, whose memory is about to be freed: every later read finds nothing.
    mutating func close() {
        count = 0
        readable = 0
        containerCount = 0
    }

    @inline(__always)
    mutating func append(start: Int) -> Int {
        if containerCount == containerCapacity { grow() }
        unsafe (containers + containerCount).initialize(
            to: Container(
                start: UInt32(truncatingIfNeeded: start), contentEnd: 0, end: 0, next: 0, count: 0,
                hintOffset: UInt32(truncatingIfNeeded: start),
                hintContainer: UInt32(truncatingIfNeeded: containerCount + 1)))
        containerCount += 1
        return containerCount - 1
    }

    @inline(__always)
    func finish(_ container: Int, count: Int, contentEnd: Int, end: Int) {
        let place = unsafe containers + container
        unsafe place.pointee.contentEnd = UInt32(truncatingIfNeeded: contentEnd)
        unsafe place.pointee.end = UInt32(truncatingIfNeeded: end)
        unsafe place.pointee.next = UInt32(truncatingIfNeeded: containerCount)
        unsafe place.pointee.count = UInt32(truncatingIfNeeded: count)
    }

    @inline(never)
    private mutating func grow() {
        let old = containerCapacity
        containerCapacity *= 2
        unsafe containers = unsafe Self.resized(containers, from: old, to: containerCapacity)
    }

    private static func resized(
        _ containers: UnsafeMutablePointer<Container>?, from old: Int, to capacity: Int
    ) -> UnsafeMutablePointer<Container> {
        unsafe RawMemory.resized(containers, from: byteCount(of: old), to: byteCount(of: capacity))
            .assumingMemoryBound(to: Container.self)
    }

    private static func byteCount(of containers: Int) -> Int { containers * MemoryLayout<Container>.stride }
}
