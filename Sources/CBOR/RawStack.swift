// Unsafe: the stack owns its memory. In a debug build every index is checked.

/// Elements of this module, added and removed at the end, without reference counts or uniqueness checks.
///
/// An index is valid until its element is removed.
@safe struct RawStack<Element: BitwiseCopyable> {
    private var base: UnsafeMutablePointer<Element>
    private var capacity: Int
    /// A lower count removes elements.
    var count = 0

    init(capacity: Int) {
        self.capacity = capacity
        unsafe base = .allocate(capacity: capacity)
    }

    /// Removes all elements, and gives back the memory of a large stack.
    mutating func empty(keeping capacity: Int) {
        count = 0
        guard self.capacity > capacity else { return }
        unsafe base.deallocate()
        self = RawStack(capacity: capacity)
    }

    subscript(index: Int) -> Element {
        @inline(__always) get {
            assert(index < count)
            return unsafe base[index]
        }
        @inline(__always) nonmutating _modify {
            assert(index < count)
            yield unsafe &base[index]
        }
    }

    /// Calls the body with an element where it is, so that its place is found once.
    @inline(__always)
    func update<Result>(_ index: Int, _ body: (inout Element) -> Result) -> Result {
        assert(index < count)
        return unsafe body(&base[index])
    }

    @inline(__always)
    mutating func append(_ element: Element) {
        if count == capacity { grow() }
        unsafe (base + count).initialize(to: element)
        count &+= 1
    }

    @inline(never)
    private mutating func grow() {
        capacity *= 2
        let moved = UnsafeMutablePointer<Element>.allocate(capacity: capacity)
        unsafe moved.moveInitialize(from: base, count: count)
        unsafe base.deallocate()
        unsafe base = unsafe moved
    }
}
