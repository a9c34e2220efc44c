// Unsafe: the document's memory and its index do not change until `close()`, and every handle is checked against its
// serial number.

/// The shared state of the decoder handles of one document: the document's index, and the methods that read values.
///
/// A handle is an item's position and the serial number of the document. Reads check the serial, so that a handle that outlives its
/// document finds nothing. The state is reached by one bare pointer, as in ``EncodingCore``, and ``CorePool`` keeps it for the next
/// document.
@safe struct DecodingCore {
    let state: UnsafeMutablePointer<State>
    /// The serial number of the document that this copy of the pointer is for.
    let serial: UInt32

    @safe struct State {
        var index = CBORIndex()
        var userInfo: [CodingUserInfoKey: any Sendable] = [:]
        /// The entries of large maps that were read out of order, ascending by key.
        var sortedMaps: [UInt32: [MapEntry]] = [:]
        /// How many steps may still be spent on coding paths, which are found by walking.
        var pathSteps = 0
        var serial: UInt32 = 0
        /// What is known about types, for this document and all later ones.
        let keys = TypeTable<DecodingKeys>()
        let decodings = TypeTable<AnyObject>()
    }

    struct MapEntry {
        var key: CBORIndex.Item
        var value: CBORIndex.Item
    }

    typealias Item = CBORIndex.Item

    /// Reads a whole document, so that values can be read from it. The caller closes it.
    ///
    /// - Parameter bytes: memory that does not change until the document is closed.
    static func open(
        _ bytes: UnsafeBufferPointer<UInt8>, _ limits: CBORLimits, _ userInfo: [CodingUserInfoKey: any Sendable]?
    ) throws(WireError) -> DecodingCore {
        let state = unsafe pool.take() ?? fresh()
        unsafe state.pointee.serial &+= 1
        let core = unsafe DecodingCore(state: state, serial: state.pointee.serial)
        do {
            try unsafe state.pointee.index.read(bytes, limits: limits, isValid: true)
        } catch {
            core.close()
            throw error
        }
        if let userInfo, !userInfo.isEmpty { unsafe state.pointee.userInfo = userInfo }
        unsafe state.pointee.pathSteps = 100_000 &+ 8 &* bytes.count
        return core
    }

    private static let pool = CorePool<State>()

    private static func fresh() -> UnsafeMutablePointer<State> {
        let state = UnsafeMutablePointer<State>.allocate(capacity: 1)
        unsafe state.initialize(to: State())
        return unsafe state
    }

    /// Ends the reading of the document. Its handles find nothing from now on.
    func close() {
        unsafe state.pointee.serial &+= 1
        unsafe state.pointee.index.close()
        if unsafe !state.pointee.userInfo.isEmpty { unsafe state.pointee.userInfo = [:] }
        if unsafe !state.pointee.sortedMaps.isEmpty { unsafe state.pointee.sortedMaps = [:] }
        if unsafe state.pointee.index.containerCapacity > 1 << 14 {
            unsafe state.pointee.index.free()
            unsafe state.pointee.index = CBORIndex()
        }
        if unsafe Self.pool.give(state) { return }
        unsafe state.pointee.index.free()
        unsafe state.pointee.keys.free { $0.free() }
        unsafe state.pointee.decodings.free { _ in }
        unsafe state.deinitialize(count: 1)
        unsafe state.deallocate()
    }

    var index: CBORIndex {
        @inline(__always) get { unsafe state.pointee.index }
    }

    /// Whether the document is still open.
    var isOpen: Bool {
        @inline(__always) get { unsafe state.pointee.serial == serial }
    }

    var userInfo: [CodingUserInfoKey: any Sendable] { unsafe isOpen ? state.pointee.userInfo : [:] }

    // MARK: Scalars

    @inline(__always)
    func head(_ item: Item) throws -> CBORIndex.Head {
        guard isOpen else { throw closed() }
        return index.head(at: Int(item.offset))
    }

    @inline(never)
    private func closed() -> WireError {
        .refused(path: "?", why: "a decoder was used after its document was read")
    }

    func isNull(_ item: Item) throws -> Bool {
        let head = try head(item)
        return head.major == 7 && (head.info == 22 || head.info == 23)
    }

    func bool(_ item: Item) throws -> Bool {
        let head = try head(item)
        guard head.major == 7, head.info == 20 || head.info == 21 else { throw mismatch(Bool.self, "a boolean", item) }
        return head.info == 21
    }

    @inline(__always)
    func integer<N: FixedWidthInteger>(_ type: N.Type, _ item: Item) throws -> N {
        let head = try head(item)
        if head.major == 0, let value = N(exactly: head.argument) { return value }
        // The argument of a negative number n is −1 − n. Its complement is n, if it fits Int64 at all.
        if head.major == 1, head.argument <= UInt64(Int64.max), let value = N(exactly: ~Int64(head.argument)) {
            return value
        }
        throw integerMismatch(type, item, head)
    }

    @inline(never)
    private func integerMismatch<N: FixedWidthInteger>(
        _ type: N.Type, _ item: Item, _ head: CBORIndex.Head
    ) -> any Error {
        guard head.major < 2 else { return mismatch(type, "an integer", item) }
        return outOfRange(type, item)
    }

    @inline(__always)
    func double(_ item: Item) throws -> Double {
        // Most floats that are not short have this form.
        let place = unsafe state.pointee.index.base + Int(item.offset)
        guard isOpen, unsafe place[0] == 0xFB else { return try anyDouble(item) }
        return unsafe Double(bitPattern: UInt64(bigEndian: UnsafeRawPointer(place + 1).loadUnaligned(as: UInt64.self)))
    }

    @inline(never)
    private func anyDouble(_ item: Item) throws -> Double {
        let head = try head(item)
        switch head.major {
        case 0: return Double(head.argument)
        case 1: return -1 - Double(head.argument)
        default:
            guard let value = head.float else { throw mismatch(Double.self, "a number", item) }
            return value
        }
    }

    func float(_ item: Item) throws -> Float {
        let wide = try double(item)
        let value = Float(wide)
        guard value.isFinite || !wide.isFinite else { throw outOfRange(Float.self, item) }
        return value
    }

    func string(_ item: Item) throws -> String {
        let first = unsafe isOpen ? state.pointee.index.base[Int(item.offset)] : 0
        guard first & 0xE0 == 0x60, first & 31 < 24 else { return try anyString(item) }
        return unsafe Self.string(state.pointee.index.base + Int(item.offset) + 1, count: Int(first & 31))
    }

    /// Text that the pass over the document has found to be UTF-8.
    @inline(__always)
    static func string(_ text: UnsafePointer<UInt8>, count: Int) -> String {
        guard count < 16 else {
            return unsafe String(decoding: UnsafeBufferPointer(start: text, count: count), as: UTF8.self)
        }
        // The library stores up to 15 bytes in the string itself.
        return unsafe String(unsafeUninitializedCapacity: 15) { place in
            guard let start = place.baseAddress else { return 0 }
            unsafe RawBuffer.copy(short: text, to: start, count)
            return count
        }
    }

    private func anyString(_ item: Item) throws -> String {
        let head = try head(item)
        guard head.major == 3 else { throw mismatch(String.self, "text", item) }
        // The pass over the document has checked that every text is UTF-8, so nothing is repaired here.
        return unsafe index.withString(head, item) { unsafe String(decoding: $0, as: UTF8.self) }
    }

    /// A byte string, or an array of integers, which a person can write in JSON.
    func bytes(_ item: Item) throws -> [UInt8] {
        let head = try head(item)
        if head.major == 2 { return index.bytes(head, item) }
        guard head.major == 4 else { throw mismatch([UInt8].self, "a byte string", item) }
        return try integers(UInt8.self, item)
    }

    /// An array of integers, without a handle for each.
    @inline(__always)
    func integers<N: FixedWidthInteger>(_ type: N.Type, _ item: Item) throws -> [N] {
        var (element, count) = try open(item, major: 4, [N].self, "an array")
        // For no elements, the library would write the count into the storage that all empty arrays share.
        if count == 0 { return [] }
        let base = unsafe index.base
        return try unsafe [N](unsafeUninitializedCapacity: count) { values, made in
            guard let first = values.baseAddress else { return }
            while count > 0 {
                // This handles numbers up to 23, and any other that is not negative. All others take the slow way.
                let head = unsafe base[Int(element.offset)]
                if head < 0x1C, isOpen {
                    let width = CBORIndex.width(head)
                    let argument =
                        unsafe head < 24
                        ? UInt64(head) : CBORScan.argument(base + Int(element.offset) + 1, width: width)
                    guard let value = N(exactly: argument) else { throw outOfRange(type, element) }
                    unsafe (first + made).initialize(to: value)
                    element.offset += 1 + UInt32(truncatingIfNeeded: width)
                } else {
                    unsafe (first + made).initialize(to: try integer(type, element))
                    element = index.after(element)
                }
                made += 1
                count -= 1
            }
        }
    }

    /// An array, with its elements read by `read`.
    @inline(__always)
    func values<V>(_ item: Item, _ read: (Item) throws -> V) throws -> [V] {
        var (element, count) = try open(item, major: 4, [V].self, "an array")
        let room = room(for: count, of: MemoryLayout<V>.stride, in: item)
        guard room == count else { return try largeValues(element, count, room, read) }
        if count == 0 { return [] }
        return try unsafe [V](unsafeUninitializedCapacity: count) { values, made in
            guard let first = values.baseAddress else { return }
            while count > 0 {
                unsafe (first + made).initialize(to: try read(element))
                made += 1
                element = index.after(element)
                count -= 1
            }
        }
    }

    /// Reads an array whose elements do not all fit into the memory that is reserved before they are read.
    @inline(never)
    private func largeValues<V>(
        _ first: Item, _ count: Int, _ room: Int, _ read: (Item) throws -> V
    ) throws -> [V] {
        var element = first
        var values: [V] = []
        values.reserveCapacity(room)
        for _ in 0..<count {
            values.append(try read(element))
            element = index.after(element)
        }
        return values
    }

    /// The first key of a map and the number of its entries.
    @inline(__always)
    func openMap(_ item: Item) throws -> (Item, Int) {
        guard isOpen, unsafe state.pointee.index.base[Int(item.offset)] >> 5 == 5 else {
            return try open(item, major: 5, [String: Any].self, "a map")
        }
        let container = unsafe state.pointee.index.containers + Int(item.container)
        return unsafe (
            Item(offset: container.pointee.start, container: item.container &+ 1), Int(container.pointee.count)
        )
    }

    /// The first item in an array or a map and the number of its elements or pairs.
    func open(_ item: Item, major: UInt8, _ type: Any.Type, _ expected: String) throws -> (Item, Int) {
        let head = try head(item)
        guard head.major == major else { throw mismatch(type, expected, item) }
        let container = unsafe index.containers[Int(item.container)]
        return (Item(offset: container.start, container: item.container + 1), Int(container.count))
    }
}
