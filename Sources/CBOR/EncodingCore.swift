// Unsafe: the coding state lives until `end()` gives it back, and every handle is checked against its serial number.

/// Where one value's encoding happens: a log of bytes, and nodes that say how the pieces of the log belong together.
///
/// Scalars and keys go to the log at once. A container is a node; what it holds that is not one unbroken run of the
/// log is a list of entries. When a value's `encode(to:)` returns, its node is *sealed*: keys are put in order, heads
/// are filled in, and the value's piece of the log becomes its final bytes, so that nodes and entries live only as
/// long as the value they describe. Containers of one value may be filled in any order, interleaved.
///
///     log   … ┃ head? ┃ key ┃ value ┃ key ┃ head? ┃ … ┃
///                       └── entry ──┘ └── entry ─▶ node
///
/// The handles given to `encode(to:)` name a node by index and serial number; a handle that is kept and used after its
/// value was sealed is found out by the serial and refused. The state is behind one bare pointer, because reference
/// counts would be the largest single cost of encoding; ``CorePool`` keeps it for the next value.
@safe struct EncodingCore {
    let state: UnsafeMutablePointer<State>

    @safe struct State {
        var log = RawBuffer(capacity: 512)
        var scratch = RawBuffer(capacity: 256)
        var nodes = UnsafeMutablePointer<Node>.allocate(capacity: 16)
        var nodeCount = 0
        var nodeCapacity = 16
        var entries = UnsafeMutablePointer<Entry>.allocate(capacity: 32)
        var entryCount = 0
        var entryCapacity = 32
        /// Where the values of known keys are, for each node that has some by the ordinals of its keys.
        var spans = UnsafeMutablePointer<Span>.allocate(capacity: 128)
        var spanCount = 0
        var spanCapacity = 128
        /// The box whose known keys may be written at once, and the node that it stands for: of the value that is being
        /// encoded, not of one that waits for it. Nil where every key goes the general way, also once something failed.
        var quickBox: UnsafeMutablePointer<EncodingKeys.Box>?
        var quickNode = 0
        /// Nodes below this one belong to values whose encoding waits for an inner value's; they must not be written to.
        var floor = 0
        /// Never starts anew, also not for the next value.
        var serial: UInt32 = 0
        /// The first thing that went wrong in a call that cannot throw; thrown at the next one that can.
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
        let shapes = TypeTable<CodingShape>()
        let spareShape: UnsafeMutablePointer<CodingShape>

        init() {
            unsafe spareShape = .allocate(capacity: 1)
            unsafe spareShape.initialize(to: CodingShape(Never.self))
        }
    }

    /// A container or the one value of an encoder.
    @safe struct Node {
        /// What the node became. A `set` is an array and a `dictionary` a map whose entries come in no order of their
        /// own, so that of two alike none can be said to be the last.
        enum Kind: UInt8 {
            case unset, single, array, map, set, dictionary

            var isContainer: Bool { rawValue >= Kind.array.rawValue }
        }
        var kind: Kind
        /// All content is one run of the log that ends at `tail`; a map's entries follow each other without gaps.
        var isRun: Bool
        /// Map keys came in ascending order so far.
        var isSorted: Bool
        /// How many containers are around this one.
        var depth: Int32
        var serial: UInt32
        var first: Int32
        var last: Int32
        var count: Int
        /// Where this value's piece of the log begins.
        var start: Int
        /// Where the run of the log that is not an entry yet begins and ends.
        var runStart: Int
        var tail: Int
        /// For coding paths: the node around it, and the key in the log or the index there.
        var parent: Int32
        var keyLength: Int32
        var keyStartOrIndex: Int
        /// The keys that can be written at once, by their ordinals, a bit each; and those of them that were not yet. What is
        /// written is in the spans from `spans` on, until a key goes the general way: then all become entries.
        var quickKeys: UInt64 = 0
        var openKeys: UInt64 = 0
        var spans = 0
        var keys: UnsafeMutablePointer<EncodingKeys>?
    }

    /// A key that is known, with its value: a piece of the log.
    struct Span {
        var start: Int
        var end: Int
    }

    /// A piece of a container: in a map a key with its value, in an array a run of values or a node.
    struct Entry {
        /// The first 8 bytes of the encoded key, highest first: enough to order most keys.
        var prefix: UInt64
        var start: Int
        var end: Int
        var keyLength: Int32
        /// The node that is the value, or −1 where the value's bytes follow the key.
        var child: Int32
        var next: Int32
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
    var nodes: UnsafeMutablePointer<Node> {
        @inline(__always) get { unsafe state.pointee.nodes }
        @inline(__always) nonmutating _modify { yield unsafe &state.pointee.nodes }
    }
    var nodeCount: Int {
        @inline(__always) get { unsafe state.pointee.nodeCount }
        @inline(__always) nonmutating _modify { yield unsafe &state.pointee.nodeCount }
    }
    var entries: UnsafeMutablePointer<Entry> {
        @inline(__always) get { unsafe state.pointee.entries }
        @inline(__always) nonmutating _modify { yield unsafe &state.pointee.entries }
    }
    var entryCount: Int {
        @inline(__always) get { unsafe state.pointee.entryCount }
        @inline(__always) nonmutating _modify { yield unsafe &state.pointee.entryCount }
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
    func newNode(parent: Int, keyStartOrIndex: Int, keyLength: Int, depth: Int32) -> Int {
        if unsafe nodeCount == state.pointee.nodeCapacity { growNodes() }
        unsafe state.pointee.serial &+= 1
        unsafe (nodes + nodeCount).initialize(
            to: Node(
                kind: .unset, isRun: true, isSorted: true, depth: depth, serial: state.pointee.serial, first: -1,
                last: -1,
                count: 0, start: log.count, runStart: log.count, tail: log.count,
                parent: Int32(truncatingIfNeeded: parent), keyLength: Int32(truncatingIfNeeded: keyLength),
                keyStartOrIndex: keyStartOrIndex))
        nodeCount += 1
        return nodeCount - 1
    }

    /// Turns an unset node into a container, or finds that it is one already; anything else is a failure.
    /// - Returns: true if it was turned into one now.
    @discardableResult
    @inline(__always)
    func open(_ node: Int, _ serial: UInt32, as kind: Node.Kind) -> Bool {
        guard isLive(node, serial), unsafe nodes[node].kind == .unset, unsafe nodes[node].depth < depthMax else {
            refuseToOpen(node, serial, as: kind)
            return false
        }
        let owner = unsafe nodes + node
        unsafe owner.pointee.kind = kind
        unsafe owner.pointee.start = log.count
        // Room for the head, which is one byte for up to 23 elements.
        log.byte(0)
        unsafe owner.pointee.runStart = log.count
        unsafe owner.pointee.tail = log.count
        return true
    }

    @inline(never)
    private func refuseToOpen(_ node: Int, _ serial: UInt32, as kind: Node.Kind) {
        // The state may serve another value by now: a handle that came too late must leave no trace in it. What is
        // written through it is refused.
        guard isLive(node, serial), unsafe nodes[node].kind != kind else { return }
        if unsafe nodes[node].kind == .unset {
            failure = failure ?? .tooDeep(limit: depthMax, offset: log.count)
        } else {
            fail("a value asked for containers of two kinds", node)
        }
    }

    @inline(__always)
    func isLive(_ node: Int, _ serial: UInt32) -> Bool {
        unsafe node < nodeCount && node >= floor && nodes[node].serial == serial
    }

    /// Throws unless the node may be written to as a container of this kind.
    @inline(__always)
    func check(_ node: Int, _ serial: UInt32, _ kind: Node.Kind) throws {
        guard isLive(node, serial), unsafe nodes[node].kind == kind, !hasFailed else { throw refusal(node, serial) }
    }

    @inline(never)
    private func refusal(_ node: Int, _ serial: UInt32) -> any Error {
        guard isLive(node, serial) else {
            return WireError.refused(path: "?", why: "a container was written to after its value was encoded")
        }
        return failure
            ?? .refused(path: path(of: node), why: "a value was encoded twice, or in containers of two kinds")
    }

    func fail(_ why: String, _ node: Int) {
        failure = failure ?? .refused(path: path(of: node), why: why)
    }

    /// Adds a key (and, without a child, its value), which is the log from `start` on, to a map.
    @inline(__always)
    func addEntry(_ node: Int, start: Int, keyLength: Int, child: Int) {
        addEntry(node, start: start, keyLength: keyLength, child: child, prefix: keyPrefix(start, keyLength))
    }

    /// The same for a key whose first bytes are at hand.
    @inline(__always)
    func addEntry(_ node: Int, start: Int, keyLength: Int, child: Int = -1, prefix: UInt64) {
        if unsafe nodes[node].quickKeys != 0 { makeEntries(node) }
        addEntry(node, start: start, end: log.count, keyLength: keyLength, child: child, prefix: prefix)
    }

    @inline(__always)
    func addEntry(_ node: Int, start: Int, end: Int, keyLength: Int, child: Int, prefix: UInt64) {
        if unsafe entryCount == state.pointee.entryCapacity { growEntries() }
        let index = Int32(truncatingIfNeeded: entryCount)
        unsafe (entries + entryCount).initialize(
            to: Entry(
                prefix: prefix, start: start, end: end, keyLength: Int32(truncatingIfNeeded: keyLength),
                child: Int32(truncatingIfNeeded: child), next: -1))
        entryCount += 1
        let owner = unsafe nodes + node
        let last = unsafe owner.pointee.last
        if last >= 0 {
            unsafe entries[Int(last)].next = index
            // Equal prefixes say nothing yet; the sort looks closer.
            if unsafe entries[Int(last)].prefix >= prefix { unsafe owner.pointee.isSorted = false }
        } else {
            unsafe owner.pointee.first = index
        }
        unsafe owner.pointee.last = index
        unsafe owner.pointee.count += 1
        if unsafe child >= 0 || owner.pointee.tail != start { unsafe owner.pointee.isRun = false }
        unsafe owner.pointee.tail = end
    }

    /// Notes that an array or a single value got one value, which is the log from `start` on.
    @inline(__always)
    func addValue(_ node: Int, start: Int) {
        let owner = unsafe nodes + node
        if unsafe owner.pointee.tail != start {
            flushRun(node)
            unsafe owner.pointee.runStart = start
        }
        unsafe owner.pointee.count += 1
        unsafe owner.pointee.tail = log.count
    }

    /// Adds a node to an array.
    func addChild(_ node: Int, child: Int) {
        flushRun(node)
        link(node, Entry(prefix: 0, start: log.count, end: log.count, keyLength: 0, child: Int32(child), next: -1))
        unsafe nodes[node].count += 1
        unsafe nodes[node].isRun = false
        unsafe nodes[node].runStart = log.count
        unsafe nodes[node].tail = log.count
    }

    /// Makes an entry of the run that was not one yet.
    func flushRun(_ node: Int) {
        let (start, end) = unsafe (nodes[node].runStart, nodes[node].tail)
        guard end > start else { return }
        link(node, Entry(prefix: 0, start: start, end: end, keyLength: 0, child: -1, next: -1))
        unsafe nodes[node].isRun = false
        unsafe nodes[node].runStart = end
    }

    private func link(_ node: Int, _ entry: Entry) {
        if unsafe entryCount == state.pointee.entryCapacity { growEntries() }
        let index = Int32(truncatingIfNeeded: entryCount)
        unsafe (entries + entryCount).initialize(to: entry)
        entryCount += 1
        let last = unsafe nodes[node].last
        if last >= 0 { unsafe entries[Int(last)].next = index } else { unsafe nodes[node].first = index }
        unsafe nodes[node].last = index
    }

    /// The first 8 bytes of a key as one number; shorter keys are filled with zeros.
    @inline(__always)
    func keyPrefix(_ start: Int, _ length: Int) -> UInt64 {
        let word = unsafe UInt64(bigEndian: UnsafeRawPointer(log.base + start).loadUnaligned(as: UInt64.self))
        return length >= 8 ? word : word & ~(UInt64.max >> UInt64(8 * length))
    }

    @inline(never)
    private func growNodes() {
        let moved = unsafe UnsafeMutablePointer<Node>.allocate(capacity: state.pointee.nodeCapacity * 2)
        unsafe moved.moveInitialize(from: nodes, count: nodeCount)
        unsafe nodes.deallocate()
        unsafe nodes = unsafe moved
        unsafe state.pointee.nodeCapacity *= 2
    }

    @inline(never)
    func growSpans(_ more: Int) {
        let capacity = unsafe state.pointee.spanCapacity * 2 + more
        let moved = UnsafeMutablePointer<Span>.allocate(capacity: capacity)
        unsafe moved.moveInitialize(from: state.pointee.spans, count: state.pointee.spanCount)
        unsafe state.pointee.spans.deallocate()
        unsafe state.pointee.spans = unsafe moved
        unsafe state.pointee.spanCapacity = capacity
    }

    @inline(never)
    func growEntries() {
        let moved = unsafe UnsafeMutablePointer<Entry>.allocate(capacity: state.pointee.entryCapacity * 2)
        unsafe moved.moveInitialize(from: entries, count: entryCount)
        unsafe entries.deallocate()
        unsafe entries = unsafe moved
        unsafe state.pointee.entryCapacity *= 2
    }
}
