// Unsafe: the coding state lives until `end()` gives it back, and every handle is checked against its serial number.

/// The state of one value's encoding: a log of bytes, and nodes that describe how the pieces of the log belong together.
///
/// Scalars and keys go to the log at once. A container is a node. If its content is not one unbroken run of the log, the node has a
/// list of entries. When a value's `encode(to:)` returns, its node is *sealed*: its keys are sorted, its heads are filled in, and
/// its piece of the log becomes its final bytes. So nodes and entries exist only as long as the value that they describe. The
/// containers of one value may be filled in any order, interleaved.
///
///     log   … ┃ head? ┃ key ┃ value ┃ key ┃ head? ┃ … ┃
///                       └── entry ──┘ └── entry ─▶ node
///
/// A handle for `encode(to:)` names a node by index and serial number. A handle that is used after its value was sealed is refused,
/// because its serial does not match. The state is reached by one bare pointer, because reference counts would be the largest
/// single cost of encoding. ``CorePool`` keeps it for the next value.
@safe struct EncodingCore {
    let state: UnsafeMutablePointer<State>

    @safe struct State {
        var log = RawBuffer(capacity: 512)
        var scratch = RawBuffer(capacity: 256)
        var nodes = RawStack<Node>(capacity: 16)
        var entries = RawStack<Entry>(capacity: 32)
        /// The positions of the values of known keys, by node and by the ordinals of its keys.
        var spans = RawStack<Span>(capacity: 128)
        /// The box whose known keys may be written directly, and its node. They belong to the value that is being encoded, not to
        /// an outer one. Nil if every key goes the general way, or once something has failed.
        var quickBox: UnsafeMutablePointer<EncodingKeys.Box>?
        var quickNode = 0
        /// The first node that may be written to. Those below it belong to outer values, which wait for an inner value's encoding.
        var floor = 0
        /// The serial number of the newest node. It continues from one value to the next.
        var serial: UInt32 = 0
        /// The first error in a call that cannot throw. The next call that can throw throws it.
        var failure: WireError? {
            didSet {
                hasFailed = failure != nil
                if hasFailed { unsafe quickBox = nil }
            }
        }
        private(set) var hasFailed = false
        var depthMax = 0
        var userInfo: [CodingUserInfoKey: any Sendable] = [:]
        /// What is known about types, for this value and all later ones.
        let keys = TypeTable<EncodingKeys>()
        let encodings = TypeTable<AnyObject>()
    }

    /// A container or the one value of an encoder.
    @safe struct Node {
        /// What the node became. A `set` is an array and a `dictionary` a map, but their entries have no order of their own. So of
        /// two equal entries, neither is the last.
        enum Kind: UInt8 {
            case unset, single, array, map, set, dictionary

            var isContainer: Bool { rawValue >= Kind.array.rawValue }
        }
        var kind: Kind
        /// Whether all content is one run of the log that ends at `tail`, and a map's entries follow each other without gaps.
        var isRun: Bool
        /// Whether the keys of a map have ascended so far.
        var isSorted: Bool
        /// The number of containers around this one.
        var depth: Int32
        var serial: UInt32
        var first: Int32?
        var last: Int32?
        var count: Int
        /// The start of this value's piece of the log.
        var start: Int
        /// The start and the end of the run of the log that is not an entry yet.
        var runStart: Int
        var tail: Int
        let position: ValuePosition
        /// The keys that can be written directly, a bit for each ordinal, and those of them that are not written yet. The written
        /// ones are in the spans from `spans` on. Once a key goes the general way, all become entries.
        var quickKeys: UInt64 = 0
        var openKeys: UInt64 = 0
        var spans = 0
        var keys: UnsafeMutablePointer<EncodingKeys>?
    }

    /// A known key with its value, as a piece of the log.
    struct Span {
        var start: Int
        var end: Int
    }

    /// A piece of a container: in a map a key with its value, in an array a run of values or a node.
    struct Entry {
        /// The first 8 bytes of the encoded key, with the first byte in the highest bits. They are enough to order most keys.
        var prefix: UInt64
        var start: Int
        var end: Int
        var keyLength: Int32
        /// The node that is the value, or nil if the value's bytes follow the key.
        var child: Int32?
        var next: Int32?

        @inline(__always)
        init(prefix: UInt64, start: Int, end: Int, keyLength: Int, child: Int?) {
            self.prefix = prefix
            self.start = start
            self.end = end
            self.keyLength = Int32(truncatingIfNeeded: keyLength)
            self.child = child.map { Int32(truncatingIfNeeded: $0) }
        }
    }

    // MARK: State

    var log: RawBuffer {
        @inline(__always) get { unsafe state.pointee.log }
        @inline(__always) nonmutating _modify { yield unsafe &state.pointee.log }
    }
    var scratch: RawBuffer {
        @inline(__always) get { unsafe state.pointee.scratch }
        @inline(__always) nonmutating _modify { yield unsafe &state.pointee.scratch }
    }
    var nodes: RawStack<Node> {
        @inline(__always) get { unsafe state.pointee.nodes }
        @inline(__always) nonmutating _modify { yield unsafe &state.pointee.nodes }
    }
    var entries: RawStack<Entry> {
        @inline(__always) get { unsafe state.pointee.entries }
        @inline(__always) nonmutating _modify { yield unsafe &state.pointee.entries }
    }
    var spans: RawStack<Span> {
        @inline(__always) get { unsafe state.pointee.spans }
        @inline(__always) nonmutating _modify { yield unsafe &state.pointee.spans }
    }
    var floor: Int {
        @inline(__always) get { unsafe state.pointee.floor }
        @inline(__always) nonmutating _modify { yield unsafe &state.pointee.floor }
    }
    var failure: WireError? {
        @inline(__always) get { unsafe state.pointee.failure }
        @inline(__always) nonmutating _modify { yield unsafe &state.pointee.failure }
    }
    var hasFailed: Bool {
        @inline(__always) get { unsafe state.pointee.hasFailed }
    }
    var depthMax: Int { unsafe state.pointee.depthMax }
    var userInfo: [CodingUserInfoKey: any Sendable] { unsafe state.pointee.userInfo }

    // MARK: Nodes and entries

    /// Makes a node for a value whose bytes start here.
    @inline(__always)
    func newNode(at position: ValuePosition) -> Int {
        unsafe state.pointee.serial &+= 1
        unsafe nodes.append(
            Node(
                kind: .unset, isRun: true, isSorted: true, depth: innerDepth(of: position.node),
                serial: state.pointee.serial, count: 0, start: log.count, runStart: log.count, tail: log.count,
                position: position))
        return nodes.count &- 1
    }

    /// The number of containers around the content of this node.
    @inline(__always)
    private func innerDepth(of node: Int?) -> Int32 {
        guard let node else { return 0 }
        return nodes[node].depth + (nodes[node].kind.isContainer ? 1 : 0)
    }

    /// Throws if one more container would be too deep here.
    func checkDepth(at position: ValuePosition) throws {
        guard innerDepth(of: position.node) < depthMax else {
            throw WireError.tooDeep(limit: depthMax, offset: log.count)
        }
    }

    /// Turns an unset node into a container, or finds that it already is one. Any other case is a failure.
    /// - Returns: true if it was turned into one now.
    @discardableResult
    @inline(__always)
    func open(_ node: Int, _ serial: UInt32, as kind: Node.Kind) -> Bool {
        guard isLive(node, serial), nodes[node].kind == .unset, nodes[node].depth < depthMax else {
            refuseToOpen(node, serial, as: kind)
            return false
        }
        nodes[node].kind = kind
        nodes[node].start = log.count
        // Reserves a byte for the head, which has one byte for up to 23 elements.
        log.byte(0)
        nodes[node].runStart = log.count
        nodes[node].tail = log.count
        return true
    }

    @inline(never)
    private func refuseToOpen(_ node: Int, _ serial: UInt32, as kind: Node.Kind) {
        // The state may serve another value by now, so a late handle must leave no trace in it. Writing through that handle is
        // refused.
        guard isLive(node, serial), nodes[node].kind != kind else { return }
        if nodes[node].kind == .unset {
            failure = failure ?? .tooDeep(limit: depthMax, offset: log.count)
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

    func fail(_ why: String, _ node: Int?) {
        failure = failure ?? .refused(path: path(of: node), why: why)
    }

    @inline(__always)
    func throwFailure() throws {
        if hasFailed, let failure { throw failure }
    }

    /// Adds a key, which is the log from `start` on, to a map. Without a child, the log has its value too.
    @inline(__always)
    func addEntry(_ node: Int, start: Int, keyLength: Int, child: Int? = nil) {
        addEntry(node, start: start, keyLength: keyLength, child: child, prefix: keyPrefix(start, keyLength))
    }

    /// Adds an entry for a key whose first bytes are known.
    @inline(__always)
    func addEntry(_ node: Int, start: Int, keyLength: Int, child: Int? = nil, prefix: UInt64) {
        if nodes[node].quickKeys != 0 { makeEntries(node) }
        addEntry(node, start: start, end: log.count, keyLength: keyLength, child: child, prefix: prefix)
    }

    @inline(__always)
    func addEntry(_ node: Int, start: Int, end: Int, keyLength: Int, child: Int?, prefix: UInt64) {
        // Equal prefixes decide nothing yet. The sort compares the whole keys.
        if let last = nodes[node].last, entries[Int(last)].prefix >= prefix { nodes[node].isSorted = false }
        link(node, Entry(prefix: prefix, start: start, end: end, keyLength: keyLength, child: child))
        nodes[node].count += 1
        if child != nil || nodes[node].tail != start { nodes[node].isRun = false }
        nodes[node].tail = end
    }

    /// Notes that an array or a single value got one value, which is the log from `start` on.
    @inline(__always)
    func addValue(_ node: Int, start: Int) {
        if nodes[node].tail != start {
            flushRun(node)
            nodes[node].runStart = start
        }
        nodes[node].count += 1
        nodes[node].tail = log.count
    }

    /// Adds a node to an array.
    func addChild(_ node: Int, child: Int) {
        flushRun(node)
        link(node, Entry(prefix: 0, start: log.count, end: log.count, keyLength: 0, child: child))
        nodes[node].count += 1
        nodes[node].isRun = false
        nodes[node].runStart = log.count
        nodes[node].tail = log.count
    }

    /// Makes an entry of the run that is not one yet.
    func flushRun(_ node: Int) {
        let (start, end) = (nodes[node].runStart, nodes[node].tail)
        guard end > start else { return }
        link(node, Entry(prefix: 0, start: start, end: end, keyLength: 0, child: nil))
        nodes[node].isRun = false
        nodes[node].runStart = end
    }

    @inline(__always)
    private func link(_ node: Int, _ entry: Entry) {
        let index = Int32(truncatingIfNeeded: entries.count)
        entries.append(entry)
        if let last = nodes[node].last { entries[Int(last)].next = index } else { nodes[node].first = index }
        nodes[node].last = index
    }

    /// The first 8 bytes of a key as one number. Shorter keys are padded with zeros.
    @inline(__always)
    func keyPrefix(_ start: Int, _ length: Int) -> UInt64 {
        let word = unsafe UInt64(bigEndian: UnsafeRawPointer(log.base + start).loadUnaligned(as: UInt64.self))
        return length >= 8 ? word : word & ~(UInt64.max >> UInt64(8 * length))
    }
}
