/// The bytes of values one behind the other, as they travel, and where each begins: what runs of entries and of commands are
/// made of.
///
///     storage  … ┌ value 0 ┬ value 1 ┬ value 2 ┐ …
///     bounds     ┘         ┘         ┘         ┘
///
/// A slice shares the bytes and keeps its indices.
struct RunBytes: Sendable {
    private(set) var storage: [UInt8]
    /// Where each value begins, and the last one ends.
    private(set) var bounds: [Int]
    private(set) var startIndex = 0
    private(set) var endIndex = 0

    init() {
        storage = []
        bounds = [0]
    }

    /// - Parameters:
    ///   - storage: bytes that begin with something else, up to `offset`.
    ///   - capacity: for how many values room is made.
    init(_ storage: [UInt8], from offset: Int, capacity: Int) {
        self.storage = storage
        bounds = []
        bounds.reserveCapacity(capacity + 1)
        bounds.append(offset)
    }

    /// How many bytes the values take.
    var byteCount: Int { bounds[endIndex] - bounds[startIndex] }

    /// Their bytes.
    var bytes: ArraySlice<UInt8> { storage[bounds[startIndex]..<bounds[endIndex]] }

    /// Where a value begins.
    @inline(__always)
    func start(of position: Int) -> Int {
        precondition(position >= startIndex && position < endIndex, "value \(position) of \(startIndex)..<\(endIndex)")
        return bounds[position]
    }

    @inline(__always)
    func check(_ range: Range<Int>) {
        precondition(
            range.lowerBound >= startIndex && range.upperBound <= endIndex, "\(range) of \(startIndex)..<\(endIndex)")
    }

    /// How many bytes some of the values take.
    func byteCount(of range: Range<Int>) -> Int { bounds[range.upperBound] - bounds[range.lowerBound] }

    mutating func slice(_ range: Range<Int>) {
        check(range)
        (startIndex, endIndex) = (range.lowerBound, range.upperBound)
    }

    /// How many values from an index on take at most a number of bytes; one at least, if there is one.
    func count(from start: Int, bytesMax: Int) -> Int {
        guard start < endIndex else { return 0 }
        let limit = bounds[start] + bytesMax
        if bounds[endIndex] <= limit { return endIndex - start }
        var (low, high) = (start + 1, endIndex)
        while low < high {
            let middle = (low + high + 1) / 2
            if bounds[middle] <= limit { low = middle } else { high = middle - 1 }
        }
        return low - start
    }

    // MARK: Changing

    /// The value that ends here, among bytes that were there before, is the next one.
    @inline(__always)
    mutating func accept(upTo end: Int) {
        bounds.append(end)
        endIndex += 1
    }

    /// Appends a value of at most a number of bytes, which `fill` writes.
    @inline(__always)
    mutating func append(_ byteCount: Int, _ fill: (inout OutputSpan<UInt8>) -> Void) {
        checkWhole()
        storage.append(addingCapacity: byteCount, initializingWith: fill)
        accept(upTo: storage.count)
    }

    /// Appends all values of another run.
    mutating func append(_ other: RunBytes) {
        checkWhole()
        let shift = storage.count - other.bounds[other.startIndex]
        storage += other.bytes
        bounds.reserveCapacity(bounds.count + other.endIndex - other.startIndex)
        for index in other.startIndex..<other.endIndex { accept(upTo: other.bounds[index + 1] + shift) }
    }

    /// Takes one of a whole run out.
    mutating func remove(at position: Int) {
        checkWhole()
        let size = bounds[position + 1] - bounds[position]
        storage.removeSubrange(bounds[position]..<bounds[position + 1])
        bounds.remove(at: position + 1)
        for later in position + 1..<bounds.count { bounds[later] -= size }
        endIndex -= 1
    }

    /// Forgets all values and keeps the memory, for the next ones.
    mutating func removeAll() {
        storage.removeAll(keepingCapacity: true)
        bounds.removeAll(keepingCapacity: true)
        bounds.append(0)
        (startIndex, endIndex) = (0, 0)
    }

    /// Makes room for a number of bytes.
    mutating func reserve(_ byteCount: Int) { storage.reserveCapacity(byteCount) }

    private func checkWhole() {
        precondition(startIndex == 0 && endIndex == bounds.count - 1, "a slice of a run is not changed")
    }
}

extension RunBytes: Equatable {
    /// Whether they are the same values.
    static func == (a: RunBytes, b: RunBytes) -> Bool {
        a.endIndex - a.startIndex == b.endIndex - b.startIndex && a.bytes == b.bytes
    }
}
