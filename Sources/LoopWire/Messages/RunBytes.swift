/// The bytes of consecutive values, as they are sent, with their bounds. Runs of entries and of commands are made of them.
///
///     storage  … ┌ value 0 ┬ value 1 ┬ value 2 ┐ …
///     bounds     ┘         ┘         ┘         ┘
///
/// A slice shares the bytes and keeps its indices.
struct RunBytes: Sendable {
    private(set) var storage: [UInt8]
    /// The offset of each value's start, and of the last one's end.
    private(set) var bounds: [Int]
    private(set) var startIndex = 0
    private(set) var endIndex = 0

    init() {
        storage = []
        bounds = [0]
    }

    /// - Parameters:
    ///   - storage: bytes whose first `offset` ones belong to something else.
    ///   - capacity: for how many values capacity is reserved.
    init(_ storage: [UInt8], from offset: Int, capacity: Int) {
        self.storage = storage
        bounds = []
        bounds.reserveCapacity(capacity + 1)
        bounds.append(offset)
    }

    /// The size of the values in bytes.
    var byteCount: Int { bounds[endIndex] - bounds[startIndex] }

    /// The bytes of the values.
    var bytes: ArraySlice<UInt8> { storage[bounds[startIndex]..<bounds[endIndex]] }

    /// The offset at which a value begins.
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

    /// The size of the values of a range in bytes.
    func byteCount(of range: Range<Int>) -> Int { bounds[range.upperBound] - bounds[range.lowerBound] }

    mutating func slice(_ range: Range<Int>) {
        check(range)
        (startIndex, endIndex) = (range.lowerBound, range.upperBound)
    }

    /// How many values from an index on fit into `bytesMax` bytes; at least one, if there is one.
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

    /// Adds the next value, which is already in the storage and ends here.
    @inline(__always)
    mutating func accept(upTo end: Int) {
        bounds.append(end)
        endIndex += 1
    }

    /// Appends a value of at most `byteCount` bytes, which `fill` writes.
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

    /// Removes one value. The run must not be a slice.
    mutating func remove(at position: Int) {
        checkWhole()
        let size = bounds[position + 1] - bounds[position]
        storage.removeSubrange(bounds[position]..<bounds[position + 1])
        bounds.remove(at: position + 1)
        for later in position + 1..<bounds.count { bounds[later] -= size }
        endIndex -= 1
    }

    /// Removes all values, and keeps the memory for further ones.
    mutating func removeAll() {
        storage.removeAll(keepingCapacity: true)
        bounds.removeAll(keepingCapacity: true)
        bounds.append(0)
        (startIndex, endIndex) = (0, 0)
    }

    /// Reserves capacity for a number of bytes.
    mutating func reserve(_ byteCount: Int) { storage.reserveCapacity(byteCount) }

    private func checkWhole() {
        precondition(startIndex == 0 && endIndex == bounds.count - 1, "a slice of a run is not changed")
    }
}

extension RunBytes: Equatable {
    /// Whether the values are equal.
    static func == (a: RunBytes, b: RunBytes) -> Bool {
        a.endIndex - a.startIndex == b.endIndex - b.startIndex && a.bytes == b.bytes
    }
}
