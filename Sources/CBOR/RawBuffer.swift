internal import LoopCollections

// Unsafe: the buffer owns its memory, and reserves before it writes.

/// Growing memory of this module, written through a bare pointer without reference counts or uniqueness checks.
///
/// There is always room for 32 bytes beyond `count`, so that keys can be copied and compared a word at a time.
@safe struct RawBuffer {
    private(set) var base: UnsafeMutablePointer<UInt8>
    private var capacity: Int
    var count = 0

    init(capacity: Int) {
        self.capacity = capacity
        unsafe base = unsafe Self.resized(nil, from: 0, to: capacity)
    }

    /// Forgets everything, and gives back the memory of a large buffer.
    mutating func empty(keeping capacity: Int) {
        count = 0
        guard self.capacity > capacity else { return }
        #if os(Linux) && !PORTABLE
            // Pages take the system time to take back, as they did to be cleared: a hundred megabytes some 8 ms.
            while self.capacity > 2 * Self.stepBytes {
                _ = unsafe Self.resized(base, from: self.capacity, to: self.capacity - Self.stepBytes)
                self.capacity -= Self.stepBytes
                BackgroundWork.giveWay()
            }
        #endif
        unsafe RawMemory.free(base, self.capacity)
        self = RawBuffer(capacity: 512)
    }

    private static var stepBytes: Int { 1 << 20 }

    /// How many bytes after `count` may be read and written.
    private static var slack: Int { 32 }

    @inline(__always)
    mutating func reserve(_ more: Int) {
        if capacity - count < more + Self.slack { grow(more) }
    }

    @inline(never)
    private mutating func grow(_ more: Int) {
        let old = capacity
        capacity = max(capacity * 2, count + more + Self.slack)
        unsafe base = unsafe Self.resized(base, from: old, to: capacity)
    }

    private static func resized(
        _ base: UnsafeMutablePointer<UInt8>?, from old: Int, to capacity: Int
    ) -> UnsafeMutablePointer<UInt8> {
        unsafe RawMemory.resized(base, from: old, to: capacity).assumingMemoryBound(to: UInt8.self)
    }

    @inline(__always)
    mutating func byte(_ value: UInt8) {
        reserve(1)
        unsafe base[count] = value
        count += 1
    }

    @inline(__always)
    mutating func append(_ source: UnsafePointer<UInt8>, _ length: Int) {
        reserve(length)
        unsafe (base + count).update(from: source, count: length)
        count += length
    }

    /// Appends a piece of another buffer. Of a short one 32 bytes are copied, which costs less than asking how many.
    @inline(__always)
    mutating func append(piece source: UnsafePointer<UInt8>, _ length: Int) {
        guard length <= Self.slack else { return unsafe append(source, length) }
        reserve(length)
        unsafe (base + count).update(from: source, count: Self.slack)
        count += length
    }

    /// Appends the head of an item in its shortest form (RFC 8949, section 3).
    @inline(__always)
    mutating func head(_ major: UInt8, _ argument: UInt64) {
        switch argument {
        case ..<24: byte(major | UInt8(truncatingIfNeeded: argument))
        case ...0xFF: put(major | 24, UInt8(truncatingIfNeeded: argument))
        case ...0xFFFF: put(major | 25, UInt16(truncatingIfNeeded: argument))
        case ...0xFFFF_FFFF: put(major | 26, UInt32(truncatingIfNeeded: argument))
        default: put(major | 27, argument)
        }
    }

    /// Appends a head byte and its argument, highest byte first.
    @inline(__always)
    private mutating func put<N: FixedWidthInteger & BitwiseCopyable>(_ first: UInt8, _ value: N) {
        reserve(9)
        unsafe base[count] = first
        unsafe UnsafeMutableRawPointer(base + count + 1).storeBytes(of: value.bigEndian, as: N.self)
        count += 1 + MemoryLayout<N>.size
    }

    @inline(__always)
    mutating func signed(_ value: Int64) {
        // The complement of a negative number is −1 − n, which is its argument.
        if value >= 0 { head(0x00, UInt64(value)) } else { head(0x20, UInt64(~value)) }
    }

    @inline(__always)
    mutating func text(_ value: String) {
        if unsafe value.utf8.withContiguousStorageIfAvailable({ unsafe string(0x60, $0) }) == nil {
            var value = value
            value.withUTF8 { unsafe string(0x60, $0) }
        }
    }

    /// Appends text (0x60) or a byte string (0x40).
    @inline(__always)
    mutating func string(_ major: UInt8, _ bytes: UnsafeBufferPointer<UInt8>) {
        head(major, UInt64(bytes.count))
        if let start = bytes.baseAddress { unsafe append(start, bytes.count) }
    }

    /// Appends the shortest of the three float forms that keeps the value. Every NaN becomes one (RFC 8949, section 4.2).
    mutating func float(_ value: Double) {
        let single = Float(value)
        if value.isNaN {
            put(0xF9, CBORFloat.nanBits)
        } else if Double(single) != value {
            put(0xFB, value.bitPattern)
        } else if let half = CBORFloat.half(exactly: single) {
            put(0xF9, half)
        } else {
            put(0xFA, single.bitPattern)
        }
    }
}
