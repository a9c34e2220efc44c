import LoopCore

/// A request in its encoded form. Up to 14 bytes are a part of the value; more have memory of their own.
package struct RequestBytes: Equatable, Sendable {
    /// 16 bytes with the case. Equal bytes are in the same case, and what is behind the last inline one is 0.
    private enum Storage: Equatable, Sendable {
        /// Bytes in the order in which they lie in memory, and how many there are.
        case inline(UInt64, UInt32, UInt16, count: UInt8)
        case array([UInt8])
    }

    private typealias Words = (UInt64, UInt64)

    private let storage: Storage

    static var inlineCountMax: Int { 14 }

    init(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count <= Self.inlineCountMax else {
            storage = .array(Array(bytes))
            return
        }
        var words: Words = (0, 0)
        withUnsafeMutableBytes(of: &words) { $0.copyMemory(from: bytes) }
        let high = UInt64(littleEndian: words.1)
        storage = .inline(
            words.0, UInt32(truncatingIfNeeded: high), UInt16(truncatingIfNeeded: high >> 32),
            count: UInt8(truncatingIfNeeded: bytes.count))
    }

    package init(_ bytes: some Sequence<UInt8>) { self = Array(bytes).withUnsafeBytes { RequestBytes($0) } }

    package var count: Int {
        switch storage {
        case .inline(_, _, _, let count): Int(count)
        case .array(let bytes): bytes.count
        }
    }

    /// The same bytes as an array, which is made where they have no memory of their own.
    package var array: [UInt8] {
        switch storage {
        case .inline: withUnsafeBytes { Array($0) }
        case .array(let bytes): bytes
        }
    }

    func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        switch storage {
        case .inline(let low, let middle, let high, let count):
            let words: Words = (low, (UInt64(middle) | UInt64(high) << 32).littleEndian)
            return Swift.withUnsafeBytes(of: words) { body(UnsafeRawBufferPointer(rebasing: $0[..<Int(count)])) }
        case .array(let bytes): return bytes.withUnsafeBytes(body)
        }
    }

    /// Fetches bytes that lie elsewhere into the processor's cache.
    func fetch() {
        if case .array(let bytes) = storage { ProcessorCache.fetch(bytes) }
    }
}
