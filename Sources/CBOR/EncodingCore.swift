// Unsafe: a state is never freed, and every handle is checked against its serial number. A piece of the log is read before
// the log changes.

/// The state of one value's encoding: a log of bytes, and nodes that describe how the pieces of the log belong together.
///
/// Scalars and keys go to the log at once. A container is a node, and what it holds is a list of entries. When a value's
/// `encode(to:)` returns, its node is *sealed*: keys are put in order, heads are filled in, and the value's piece of the log
/// becomes its final bytes. So nodes and entries live only as long as the value that they describe. Containers of one value may be
/// filled in any order, interleaved.
///
///     log   … ┃ head? ┃ key ┃ value ┃ key ┃ head? ┃ … ┃
///                       └── entry ──┘ └── entry ─▶ node
///
/// The handles given to `encode(to:)` name a node by index and serial number. A handle that is used after its value was sealed is
/// found out by the serial number, and refused. A state is reached by a bare pointer, because reference counts would be the
/// largest single cost of encoding. It is used again for the next value and never freed, so that late handles always find one.
@safe struct EncodingCore: @unchecked Sendable {
    private let state: UnsafeMutablePointer<State>

    @safe private struct State {
        var log = RawBuffer(capacity: 512)
        var scratch = RawBuffer(capacity: 512)
        var nodes = RawStack<Node>(capacity: 16)
        var entries = RawStack<Entry>(capacity: 64)
        /// Nodes below this one belong to values whose encoding waits for an inner value's. They must not be written to.
        var floor = 0
        /// The serial number of the last node. It goes on from one value to the next.
        var serial: UInt32 = 0
        /// The first thing that went wrong in a call that cannot throw. It is thrown at the next one that can.
        var failure: WireError?
        var depthMax = 0
        var userInfo: [CodingUserInfoKey: any Sendable] = [:]
        /// What is known about types, for this value and all later ones.
        var encodings = TypeTable()
        var keys = TypeTable()
    }

    /// A container or the one value of an encoder.
    struct Node {
        /// What the node became. A `set` is an array and a `dictionary` a map whose entries have no order of their own, so that
        /// of two alike neither is the last.
        enum Kind: UInt8 {
            case unset, single, array, map, set, dictionary
        }
        var kind = Kind.unset
        /// The entries follow each other in the log without gaps, in their final order.
        var isInOrder = true
        /// How many containers are around this node.
        let depth: Int
        let serial: UInt32
        let position: Position
        /// The entries, or -1 without any.
        var first = -1
        var last = -1
        /// How many elements or pairs there are.
        var count = 0
        /// Where this node's piece of the log begins, and where its last entry ends.
        var start: Int
        var end: Int
    }

    /// A piece of a container: in a map a key with its value, in an array values that follow each other.
    struct Entry {
        /// The first 8 bytes of the encoded key, highest first, which order most keys.
        var prefix: UInt64
        var start: Int
        var end: Int
        var keyLength: Int
        /// The node that is the value, or -1 if the value's bytes follow the key.
        var child: Int
        var next = -1
    }

    /// Where a value is: in which node, and behind which key or at which index there. Coding paths and depths are found from it.
    struct Position {
        /// The node around the value, or -1 at the top.
        let node: Int
        /// The index in an array, or where the key begins in the log.
        let step: Int
        /// The length of the key, or 0 without one, or -1 in an array.
        let keyLength: Int

        static let top = Position(node: -1, step: 0, keyLength: 0)

        /// The value of its node, or a key of a dictionary.
        static func inside(_ node: Int) -> Position { Position(node: node, step: 0, keyLength: 0) }

        static func element(_ index: Int, of node: Int) -> Position { Position(node: node, step: index, keyLength: -1) }
    }

    // MARK: States

    private static let unused = UnusedStates<State>()

    /// An empty state for one value. The caller ends it.
    static func begin(_ limits: CBORLimits, _ userInfo: [CodingUserInfoKey: any Sendable]?) -> EncodingCore {
        let core = EncodingCore()
        unsafe core.state.pointee.depthMax = limits.depthMax
        if let userInfo { unsafe core.state.pointee.userInfo = userInfo }
        return core
    }

    /// An unused state, or a new one.
    private init() {
        if let unused = unsafe Self.unused.take() {
            unsafe state = unused
        } else {
            unsafe state = .allocate(capacity: 1)
            unsafe state.initialize(to: State())
        }
    }

    /// Gives the state back, empty.
    func end() {
        nodes.empty(keeping: 1 << 12)
        entries.empty(keeping: 1 << 16)
        log.empty(keeping: 1 << 20)
        scratch.empty(keeping: 1 << 20)
        floor = 0
        failure = nil
        if unsafe !state.pointee.userInfo.isEmpty { unsafe state.pointee.userInfo = [:] }
        unsafe Self.unused.give(state)
    }

    var log: RawBuffer {
        @inline(__always) get { unsafe state.pointee.log }
        @inline(__always) nonmutating _modify { yield unsafe &state.pointee.log }
    }
    var scratch: RawBuffer {
        get { unsafe state.pointee.scratch }
        nonmutating _modify { yield unsafe &state.pointee.scratch }
    }
    var nodes: RawStack<Node> {
        @inline(__always) get { unsafe state.pointee.nodes }
        @inline(__always) nonmutating _modify { yield unsafe &state.pointee.nodes }
    }
    var entries: RawStack<Entry> {
        @inline(__always) get { unsafe state.pointee.entries }
        @inline(__always) nonmutating _modify { yield unsafe &state.pointee.entries }
    }
    private var floor: Int {
        get { unsafe state.pointee.floor }
        nonmutating set { unsafe state.pointee.floor = newValue }
    }
    var failure: WireError? {
        get { unsafe state.pointee.failure }
        nonmutating set { unsafe state.pointee.failure = newValue }
    }
    private var hasFailed: Bool {
        @inline(__always) get { if case .none = unsafe state.pointee.failure { false } else { true } }
    }
    var userInfo: [CodingUserInfoKey: any Sendable] { unsafe state.pointee.userInfo }

    /// How the values of a type are encoded.
    @inline(__always)
    func encoding<T: Encodable>(of type: T.Type) -> ValueEncoding<T> {
        let known = unsafe state.pointee.encodings.object(of: type) ?? newEncoding(of: type)
        return unsafe unsafeDowncast(known, to: ValueEncoding<T>.self)
    }

    @inline(never)
    private func newEncoding<T: Encodable>(of type: T.Type) -> AnyObject {
        let encoding = (type as? any CBOREncodable.Type)?.encoding ?? ValueEncoding<T>()
        unsafe state.pointee.encodings.add(encoding, of: type)
        return encoding
    }

    /// What makes the containers for a type of keys.
    @inline(__always)
    func keys<Key: CodingKey>(_ type: Key.Type) -> EncodingKeys<CBORKeyedEncoding<Key>> {
        let known = unsafe state.pointee.keys.object(of: type) ?? newKeys(type)
        return unsafe unsafeDowncast(known, to: EncodingKeys<CBORKeyedEncoding<Key>>.self)
    }

    @inline(never)
    private func newKeys<Key: CodingKey>(_ type: Key.Type) -> AnyObject {
        let keys = EncodingKeys<CBORKeyedEncoding<Key>>()
        unsafe state.pointee.keys.add(keys, of: type)
        return keys
    }

    /// What was written, as an array.
    func written() -> [UInt8] { unsafe Array(UnsafeBufferPointer(start: log.base, count: log.count)) }

    // MARK: Nodes

    /// Makes a node for a value whose bytes start here.
    @inline(__always)
    func newNode(at position: Position) -> Int {
        unsafe state.pointee.serial &+= 1
        unsafe nodes.append(
            Node(
                depth: depth(at: position), serial: state.pointee.serial, position: position, start: log.count,
                end: log.count))
        return nodes.count &- 1
    }

    /// Makes a node for what `body` writes. If that throws, nothing is written.
    @inline(__always)
    func withNode(at position: Position, _ body: (Int) throws -> Void) rethrows {
        let (nodesBefore, entriesBefore, floorBefore) = (nodes.count, entries.count, floor)
        let start = log.count
        let node = newNode(at: position)
        floor = node
        defer {
            floor = floorBefore
            nodes.count = nodesBefore
            entries.count = entriesBefore
        }
        do {
            try body(node)
        } catch {
            log.count = start
            throw error
        }
    }

    /// How many containers are around what is at a position.
    @inline(__always)
    private func depth(at position: Position) -> Int {
        guard position.node >= 0 else { return 0 }
        let around = nodes[position.node]
        return around.depth + (around.kind == .unset || around.kind == .single ? 0 : 1)
    }

    /// Throws if one more container does not fit here.
    func checkDepth(at position: Position) throws {
        let depthMax = unsafe state.pointee.depthMax
        guard depth(at: position) < depthMax else { throw WireError.tooDeep(limit: depthMax, offset: log.count) }
    }

    /// Turns an unset node into a container, or finds that it is one already. Anything else is a failure.
    func open(_ node: Int, _ serial: UInt32, as kind: Node.Kind) {
        guard isLive(node, serial), nodes[node].kind == .unset, unsafe nodes[node].depth < state.pointee.depthMax else {
            return refuseToOpen(node, serial, as: kind)
        }
        nodes[node].kind = kind
        nodes[node].start = log.count
        // Reserves a byte for the head, which has one byte for up to 23 elements.
        log.byte(0)
        nodes[node].end = log.count
    }

    @inline(never)
    private func refuseToOpen(_ node: Int, _ serial: UInt32, as kind: Node.Kind) {
        // The state may serve another value by now, so a late handle must leave no trace in it. Writing through that handle is
        // refused.
        guard isLive(node, serial), nodes[node].kind != kind else { return }
        if nodes[node].kind == .unset {
            failure = unsafe failure ?? .tooDeep(limit: state.pointee.depthMax, offset: log.count)
        } else {
            fail("a value asked for containers of two kinds", node)
        }
    }

    @inline(__always)
    func isLive(_ node: Int, _ serial: UInt32) -> Bool {
        node < nodes.count && node >= floor && nodes[node].serial == serial
    }

    /// Throws unless the node may be written to as a container of this kind.
    @inline(__always)
    func check(_ node: Int, _ serial: UInt32, _ kind: Node.Kind) throws {
        guard isLive(node, serial), nodes[node].kind == kind, !hasFailed else { throw refusal(node, serial) }
    }

    @inline(never)
    private func refusal(_ node: Int, _ serial: UInt32) -> any Error {
        guard isLive(node, serial) else {
            return WireError.refused(path: "?", why: "a container was written to after its value was encoded")
        }
        return failure
            ?? .refused(path: path(of: node), why: "a value was encoded twice, or in containers of two kinds")
    }

    func fail(_ why: String, _ node: Int) { failure = failure ?? .refused(path: path(of: node), why: why) }

    @inline(__always)
    func throwFailure() throws {
        if hasFailed, let failure { throw failure }
    }

    // MARK: Entries

    /// Adds to a container what the log has from `start` on: a key with its value, or a value, or the key of a child.
    ///
    /// - Parameter keyLength: in bytes, or 0 if the entries are not to be sorted.
    @inline(__always)
    func add(to node: Int, from start: Int, keyLength: Int = 0, child: Int = -1) {
        let (index, end) = (entries.count, log.count)
        let prefix = keyLength == 0 ? 0 : keyPrefix(start, keyLength)
        nodes.update(node) { owner in
            let (last, isNext) = (owner.last, owner.end == start && child < 0)
            owner.count &+= 1
            owner.end = end
            if keyLength == 0, isNext, last >= 0, entries[last].child < 0 {
                entries[last].end = end
                return
            }
            // Equal prefixes say nothing yet: the sort looks closer.
            if !isNext || last >= 0 && keyLength > 0 && entries[last].prefix >= prefix { owner.isInOrder = false }
            entries.append(Entry(prefix: prefix, start: start, end: end, keyLength: keyLength, child: child))
            if last >= 0 { entries[last].next = index } else { owner.first = index }
            owner.last = index
        }
    }

    /// The first 8 bytes of a key as one number. Shorter keys are filled with zeros.
    @inline(__always)
    private func keyPrefix(_ start: Int, _ length: Int) -> UInt64 {
        let word = unsafe UInt64(bigEndian: UnsafeRawPointer(log.base + start).loadUnaligned(as: UInt64.self))
        return length >= 8 ? word : word & ~(UInt64.max >> UInt64(8 * length))
    }

    // MARK: Paths

    /// The keys from the outermost value to this node, read back from the nodes. They are empty for a node that is gone.
    func codingPath(of node: Int, _ serial: UInt32) -> [any CodingKey] {
        node < nodes.count && nodes[node].serial == serial ? steps(to: node) : []
    }

    private func path(of node: Int) -> String { CBORPath.text(steps(to: node)) }

    private func steps(to node: Int) -> [any CodingKey] {
        var steps: [any CodingKey] = []
        var node = node
        while node >= 0 {
            let position = nodes[node].position
            if position.keyLength < 0 {
                steps.append(CBORPath.Step(index: position.step))
            } else if position.keyLength > 0 {
                unsafe steps.append(CBORPath.Step(encodedKey: log.base + position.step, position.keyLength))
            }
            node = position.node
        }
        return steps.reversed()
    }
}
