internal import Synchronization

// Unsafe: the words are in memory that this object allocates and frees, or that its creator keeps. Every index is checked.

/// Words of 64 bits in memory that others may use at the same time. An example is a signal handler, or the system, which keeps a
/// mapped file when the process ends.
///
/// Loads and stores are atomic and in order, so that the compiler neither removes them nor moves them behind a trap. They cost as
/// much as plain ones, or little more.
@safe
package final class SharedWords: @unchecked Sendable {
    /// The number of words.
    package let count: Int
    private let words: UnsafeMutablePointer<Atomic<UInt64>>
    private let isOwn: Bool

    /// Creates words in new memory, all 0.
    package init(count: Int) {
        self.count = count
        isOwn = true
        unsafe words = .allocate(capacity: count)
        for index in 0..<count { unsafe (words + index).initialize(to: Atomic(0)) }
    }

    /// Uses words in existing memory.
    /// - Parameter memory: memory that is aligned to 8 bytes and outlives the words, which do not free it.
    package init(in memory: UnsafeMutableRawBufferPointer) {
        guard let base = memory.baseAddress, UInt(bitPattern: base) % 8 == 0 else {
            preconditionFailure("words need aligned memory, and were given \(memory.count) bytes")
        }
        count = memory.count / 8
        isOwn = false
        unsafe words = base.bindMemory(to: Atomic<UInt64>.self, capacity: memory.count / 8)
    }

    deinit { if isOwn { unsafe words.deallocate() } }

    /// One of the words. Other threads see stores in their order.
    package subscript(index: Int) -> UInt64 {
        get {
            check(index)
            return unsafe words[index].load(ordering: .acquiring)
        }
        set {
            check(index)
            unsafe words[index].store(newValue, ordering: .releasing)
        }
    }

    private func check(_ index: Int) {
        precondition(index >= 0 && index < count, "word \(index) of \(count)")
    }

    /// All words as bytes, the lowest byte of each first.
    package var bytes: [UInt8] {
        get {
            var bytes: [UInt8] = []
            for index in 0..<count { bytes.append(number: self[index]) }
            return bytes
        }
        set {
            precondition(newValue.count == 8 * count, "\(newValue.count) bytes into \(count) words")
            for index in 0..<count { self[index] = newValue.span.number(at: 8 * index) }
        }
    }
}
