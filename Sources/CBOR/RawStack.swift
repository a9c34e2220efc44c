// Unsafe: the stack owns its memory until `free()`. In a debug build every index is checked.

/// Elements of this module, added and removed at the end, without reference counts or uniqueness checks.
///
/// An index is valid until its element is removed. The owner frees the memory.
@safe struct RawStack<Element: BitwiseCopyable> {
    private(set) var base: UnsafeMutablePointer<Element>
    private(set) var capacity: Int
    /// The number of elements. A lower count removes elements. A higher one must be within what was reserved.
    var count = 0

    init(capacity: Int) {
        self.capacity = capacity
        unsafe base = .allocate(capacity: capacity)
    }

    func free() { unsafe base.deallocate() }

    /// Removes all elements. Memory for more than `most` elements is replaced by memory for `capacity`.
    mutating func empty(keeping most: Int, or capacity: Int) {
        count = 0
        guard self.capacity > most else { return }
        free()
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

    @inline(__always)
    mutating func append(_ element: Element) {
        reserve(1)
        unsafe (base + count).initialize(to: element)
        count &+= 1
    }

    /// Reserves memory for more elements after `count`.
    @inline(__always)
    mutating func reserve(_ more: Int) {
        if capacity &- count < more { grow(more) }
    }

    @inline(never)
    private mutating func grow(_ more: Int) {
        capacity = max(capacity * 2, count + more)
        let moved = UnsafeMutablePointer<Element>.allocate(capacity: capacity)
        unsafe moved.moveInitialize(from: base, count: count)
        free()
        unsafe base = unsafe moved
    }
}
