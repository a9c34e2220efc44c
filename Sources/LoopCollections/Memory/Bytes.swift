// Unsafe: every access is checked to be within the lent bytes or the requested space. All bits of the numbers have a meaning, and
// no alignment is assumed.

extension Span<UInt8> {
    /// The number at an offset, the lowest byte first.
    @inlinable
    @inline(__always)
    package func number<Number: FixedWidthInteger & BitwiseCopyable>(
        at offset: Int, as type: Number.Type = Number.self
    ) -> Number {
        unsafe Number(littleEndian: bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: type))
    }
}

extension Array<UInt8> {
    /// A copy of bytes.
    @inlinable
    package init(_ bytes: Span<UInt8>) { self = unsafe bytes.withUnsafeBytes { unsafe Array($0) } }

    /// Appends bytes.
    @inlinable
    package mutating func append(_ bytes: Span<UInt8>) {
        unsafe bytes.withUnsafeBytes { unsafe append(contentsOf: $0) }
    }

    /// Appends a number, the lowest byte first.
    @inlinable
    package mutating func append(number: some FixedWidthInteger & BitwiseCopyable) {
        unsafe Swift.withUnsafeBytes(of: number.littleEndian) { unsafe append(contentsOf: $0) }
    }
}

extension OutputSpan<UInt8> {
    /// Appends bytes.
    @inlinable
    @inline(__always)
    package mutating func append(_ bytes: Span<UInt8>) {
        unsafe bytes.withUnsafeBytes { unsafe append(copying: $0) }
    }

    /// Appends a number, the lowest byte first.
    @inlinable
    @inline(__always)
    package mutating func append(number: some FixedWidthInteger & BitwiseCopyable) {
        unsafe withUnsafeBytes(of: number.littleEndian) { unsafe append(copying: $0) }
    }

    @inlinable
    @inline(__always)
    mutating func append(copying bytes: UnsafeRawBufferPointer) {
        unsafe withUnsafeMutableBufferPointer { buffer, count in
            precondition(bytes.count <= buffer.count - count, "\(bytes.count) bytes into \(buffer.count - count)")
            if let source = bytes.baseAddress, let target = buffer.baseAddress {
                unsafe UnsafeMutableRawPointer(target + count).copyMemory(from: source, byteCount: bytes.count)
            }
            count += bytes.count
        }
    }
}
