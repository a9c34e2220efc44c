import LoopCollections
package import LoopCore

/// A request in its encoded form. Up to 14 bytes are a part of the value; more have memory of their own.
public struct RequestBytes: Equatable, Sendable {
    /// 16 bytes with the case. Equal bytes are in the same case, and what is behind the last inline one is 0.
    @usableFromInline
    enum Storage: Equatable, Sendable {
        /// Bytes in the order in which they lie in memory, and how many there are.
        case inline(UInt64, UInt32, UInt16, count: UInt8)
        case array([UInt8])
    }

    @usableFromInline typealias Words = (UInt64, UInt64)

    @usableFromInline let storage: Storage

    package static var inlineCountMax: Int { 14 }

    /// Copies the bytes.
    @inlinable
    public init(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count <= 14 else {
            storage = .array(Array(bytes))
            return
        }
        var words: Words = (0, 0)
        Swift.withUnsafeMutableBytes(of: &words) { $0.copyMemory(from: bytes) }
        let high = UInt64(littleEndian: words.1)
        storage = .inline(
            words.0, UInt32(truncatingIfNeeded: high), UInt16(truncatingIfNeeded: high >> 32),
            count: UInt8(truncatingIfNeeded: bytes.count))
    }

    /// Copies the bytes of a sequence.
    public init(_ bytes: some Sequence<UInt8>) {
        self =
            bytes.withContiguousStorageIfAvailable { RequestBytes(UnsafeRawBufferPointer($0)) }
            ?? Array(bytes).withUnsafeBytes { RequestBytes($0) }
    }

    /// How many bytes the request has.
    public var count: Int {
        switch storage {
        case .inline(_, _, _, let count): Int(count)
        case .array(let bytes): bytes.count
        }
    }

    /// The same bytes as an array, which is made where they have no memory of their own.
    public var array: [UInt8] {
        switch storage {
        case .inline: withUnsafeBytes { Array($0) }
        case .array(let bytes): bytes
        }
    }

    /// Lends the bytes, which are valid during the call only.
    /// - Throws: what `body` throws.
    @inlinable
    public func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        switch storage {
        case .inline(let low, let middle, let high, let count):
            let words: Words = (low, (UInt64(middle) | UInt64(high) << 32).littleEndian)
            return try Swift.withUnsafeBytes(of: words) { (bytes) throws(Failure) in
                try body(UnsafeRawBufferPointer(rebasing: bytes[..<Int(count)]))
            }
        case .array(let bytes): return try bytes.span.withUnsafeBytes(body)
        }
    }

    /// Fetches bytes that lie elsewhere into the processor's cache.
    package func fetch() {
        if case .array(let bytes) = storage { ProcessorCache.fetch(bytes) }
    }
}

extension RequestBytes: ExpressibleByArrayLiteral {
    /// Creates a request of the bytes of a literal.
    public init(arrayLiteral bytes: UInt8...) { self.init(bytes) }
}

extension RequestCoding {
    package func decode(_ request: RequestBytes, _ coder: any ValueCoder) throws -> any Sendable {
        try request.withUnsafeBytes { try decode($0, coder) }
    }
}
