// Unsafe: the document's memory and its index stay as they are until `close()`, and every handle is checked against its
// serial number. A state is never freed.

/// The shared state of the decoder handles of one document: the document's index, and the methods that read values.
///
/// Handles are an item's position and the serial number of the document. What they read is checked once more against the serial
/// number, so that a handle that outlives its document finds nothing. A state is used as in ``EncodingCore``.
@safe struct DecodingCore: @unchecked Sendable {
    private let state: UnsafeMutablePointer<State>
    /// The serial number of the document that this copy of the pointer is for.
    private var serial: UInt32 = 0

    @safe private struct State {
        var index = CBORIndex()
        var userInfo: [CodingUserInfoKey: any Sendable] = [:]
        /// Maps of many keys that were asked out of order, by their container: the entries, ascending by key.
        var sortedMaps: [UInt32: [MapEntry]] = [:]
        /// How many steps may still be spent on coding paths, which are found by walking.
        var pathSteps = 0
        var serial: UInt32 = 0
        /// What is known about types, for this document and all later ones.
        var decodings = TypeTable()
        var keys = TypeTable()
    }

    struct MapEntry {
        var key: Item
        var value: Item
    }

    typealias Item = CBORIndex.Item

    private static let unused = UnusedStates<State>()

    /// An unused state, or a new one.
    private init() {
        if let unused = unsafe Self.unused.take() {
            unsafe state = unused
        } else {
            unsafe state = .allocate(capacity: 1)
            unsafe state.initialize(to: State())
        }
    }

    /// Reads a document through, for values to be read from it. The caller closes it.
    ///
    /// - Parameter bytes: memory that does not change until the document is closed.
    static func open(
        _ bytes: UnsafeBufferPointer<UInt8>, _ limits: CBORLimits, _ userInfo: [CodingUserInfoKey: any Sendable]?,
        isValid: Bool = true
    ) throws(WireError) -> DecodingCore {
        var core = DecodingCore()
        unsafe core.state.pointee.serial &+= 1
        unsafe core.serial = core.state.pointee.serial
        do {
            try unsafe core.state.pointee.index.read(bytes, limits, isValid: isValid)
        } catch {
            core.close()
            throw error
        }
        if let userInfo { unsafe core.state.pointee.userInfo = userInfo }
        unsafe core.state.pointee.pathSteps = 100_000 &+ 8 &* bytes.count
        return core
    }

    /// Ends the reading of the document: handles of it find nothing from now on.
    func close() {
        unsafe state.pointee.serial &+= 1
        unsafe state.pointee.index.close()
        if unsafe !state.pointee.userInfo.isEmpty { unsafe state.pointee.userInfo = [:] }
        if unsafe !state.pointee.sortedMaps.isEmpty { unsafe state.pointee.sortedMaps = [:] }
        unsafe Self.unused.give(state)
    }

    var index: CBORIndex {
        @inline(__always) get { unsafe state.pointee.index }
    }

    /// Whether the document is still open.
    var isOpen: Bool {
        @inline(__always) get { unsafe state.pointee.serial == serial }
    }

    var userInfo: [CodingUserInfoKey: any Sendable] { unsafe isOpen ? state.pointee.userInfo : [:] }

    /// Takes a step of a walk that looks for a coding path. It returns false if there were too many.
    func takePathStep() -> Bool {
        unsafe state.pointee.pathSteps -= 1
        return unsafe state.pointee.pathSteps > 0
    }

    /// The entries with text keys of a map, ascending by key.
    func sortedEntries(_ item: Item, _ make: () -> [MapEntry]) -> [MapEntry] {
        if let known = unsafe state.pointee.sortedMaps[item.container] { return known }
        let entries = make()
        unsafe state.pointee.sortedMaps[item.container] = entries
        return entries
    }

    /// How the values of a type are decoded.
    @inline(__always)
    func decoding<T: Decodable>(of type: T.Type) -> ValueDecoding<T> {
        let known = unsafe state.pointee.decodings.object(of: type) ?? newDecoding(of: type)
        return unsafe unsafeDowncast(known, to: ValueDecoding<T>.self)
    }

    @inline(never)
    private func newDecoding<T: Decodable>(of type: T.Type) -> AnyObject {
        let decoding = (type as? any CBORDecodable.Type)?.decoding ?? ValueDecoding<T>()
        unsafe state.pointee.decodings.add(decoding, of: type)
        return decoding
    }

    /// What makes the containers for a type of keys.
    @inline(__always)
    func keys<Key: CodingKey>(_ type: Key.Type) -> DecodingKeys<CBORKeyedDecoding<Key>> {
        let known = unsafe state.pointee.keys.object(of: type) ?? newKeys(type)
        return unsafe unsafeDowncast(known, to: DecodingKeys<CBORKeyedDecoding<Key>>.self)
    }

    @inline(never)
    private func newKeys<Key: CodingKey>(_ type: Key.Type) -> AnyObject {
        let keys = DecodingKeys<CBORKeyedDecoding<Key>>()
        unsafe state.pointee.keys.add(keys, of: type)
        return keys
    }

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
        throw head.major < 2 ? outOfRange(type, item) : mismatch(type, "an integer", item)
    }

    func double(_ item: Item) throws -> Double {
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
        let head = try head(item)
        guard head.major == 3 else { throw mismatch(String.self, "text", item) }
        // The pass over the document has checked that every text is UTF-8, so nothing is repaired here.
        return unsafe index.withString(head, item) { unsafe String(decoding: $0, as: UTF8.self) }
    }

    /// Throws unless an item is a map.
    @inline(__always)
    func checkMap(_ item: Item) throws {
        if try head(item).major != 5 { throw mismatch([String: Any].self, "a map", item) }
    }

    /// The first item in an array (4) or a map (5) and how many elements or pairs there are.
    func open(_ item: Item, major: UInt8, _ type: Any.Type, _ expected: String) throws -> (Item, Int) {
        guard try head(item).major == major else { throw mismatch(type, expected, item) }
        let container = index.containers[Int(item.container)]
        return (index.first(of: item), Int(container.count))
    }
}
