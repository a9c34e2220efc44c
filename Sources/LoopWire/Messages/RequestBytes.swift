public import LoopCollections
package import LoopCore

/// An encoded request. Up to 14 bytes are stored inline; more have memory of their own.
public struct RequestBytes: Equatable, Sendable {
    /// 16 bytes, including the case. Equal bytes have equal cases, and the bytes after the last inline one are 0.
    @usableFromInline
    enum Storage: Equatable, Sendable {
        /// The 14 bytes in little-endian order, and how many are used.
        case inline(UInt64, UInt32, UInt16, count: UInt8)
        case array([UInt8])
    }

    @usableFromInline let storage: Storage

    /// Copies the bytes.
    @inlinable
    public init(_ bytes: Span<UInt8>) {
        guard bytes.count <= 14 else {
            storage = .array(Array(bytes))
            return
        }
        let word = bytes.word
        storage = .inline(
            UInt64(truncatingIfNeeded: word), UInt32(truncatingIfNeeded: word >> 64),
            UInt16(truncatingIfNeeded: word >> 96), count: UInt8(truncatingIfNeeded: bytes.count))
    }

    /// Copies the bytes of a sequence.
    public init(_ bytes: some Sequence<UInt8>) {
        let bytes = Array(bytes)
        self.init(bytes.span)
    }

    /// The size of the request in bytes.
    public var count: Int {
        switch storage {
        case .inline(_, _, _, let count): Int(count)
        case .array(let bytes): bytes.count
        }
    }

    /// The bytes as an array, which is made if they are inline.
    public var array: [UInt8] {
        switch storage {
        case .inline: withBytes { Array($0) }
        case .array(let bytes): bytes
        }
    }

    /// Lends the bytes.
    /// - Throws: what `body` throws.
    @inlinable
    public func withBytes<Result, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        switch storage {
        case .inline(let low, let middle, let high, let count):
            let word = UInt128(low) | UInt128(middle) << 64 | UInt128(high) << 96
            return try word.withBytes { (bytes) throws(Failure) in try body(bytes.extracting(first: Int(count))) }
        case .array(let bytes): return try body(bytes.span)
        }
    }
}

extension RequestBytes: ExpressibleByArrayLiteral {
    /// Creates a request of the bytes of a literal.
    public init(arrayLiteral bytes: UInt8...) { self.init(bytes) }
}

extension RequestCoding {
    package func decode(_ request: RequestBytes, _ coder: any ValueCoder) throws -> any Sendable {
        try request.withBytes { try decode($0, coder) }
    }
}
