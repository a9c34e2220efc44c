// Unsafe: the index owns the memory of its containers until `free()`. The document's bytes belong to the caller until
// `close()`.

/// The result of one pass over a document, which finds every error in its form and the end of each container.
///
/// After the pass, reading needs no checks of announced lengths, and skips any item in constant time, whatever its size. So the
/// whole work of decoding is in proportion to the document's size. Containers (arrays, maps, strings of indefinite length) are
/// numbered in the order in which they begin. No memory is reserved for lengths that are only announced.
@safe struct CBORIndex {
    /// A container that the pass has found. Offsets count from the document's start.
    struct Container {
        /// The first byte after the head.
        var start: UInt32
        /// The first byte after the last element, which is before the break of an indefinite length.
        var contentEnd: UInt32
        /// The first byte after the container.
        var end: UInt32
        /// The number of the first container that begins after this one.
        var next: UInt32
        /// The number of elements, pairs or chunks.
        var count: UInt32
        /// The end of the last look-up in a map, because the next key is most often there.
        var hintOffset: UInt32
        var hintContainer: UInt32
    }

    /// An item: the offset of its bytes, and the number of the first container that begins there or later.
    struct Item {
        var offset: UInt32
        var container: UInt32

        static let root = Item(offset: 0, container: 0)
    }

    private(set) var base: UnsafePointer<UInt8>
    private(set) var count: Int
    /// The number of bytes that may be read from `base` on. After a copied document, more bytes may be read.
    private(set) var readable: Int
    let shortLengths = unsafe Self.shortLengths
    private let textMasks = unsafe Self.textMasks
    private(set) var containers: UnsafeMutablePointer<Container>
    private(set) var containerCount = 0
    private(set) var containerCapacity: Int
    /// The containers that are open during the pass, as many as the depth limit allows.
    private var frames: UnsafeMutablePointer<CBORScan.Frame>
    private var frameCapacity: Int
    /// Memory for copies of short documents, so that reading near their ends needs no checks.
    private let copy: UnsafeMutablePointer<UInt8>

    /// The largest length of a document that is copied.
    private static var copyMax: Int { 512 }
    /// The number of bytes that may be read after a copy: more than an entry of a short key and a short value has.
    private static var copySlack: Int { 64 }

    /// An empty index, with memory for a few containers. The caller frees it.
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

    /// Calls `body` with the index of a document, and frees it afterwards.
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

    /// Reads a whole document.
    ///
    /// - Parameter isValid: whether to refuse well-formed but invalid documents too: those with duplicate keys, or with text that
    ///   is not UTF-8.
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

    /// Stores a document, whose memory does not move until it is closed.
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

    /// Forgets the document, whose memory is about to be freed. Every later read finds nothing.
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
