internal import LoopLock

// Unsafe: the buffer owns its memory until `free()`, and reserves before it writes.

/// Growing memory of this module's own, written through a bare pointer: no reference counts, no uniqueness checks.
///
/// The owner frees it. There is always room for 32 bytes beyond `count`, so that keys can be compared a word at a
/// time, and short pieces copied without asking for their exact length.
@safe struct RawBuffer {
    private(set) var base: UnsafeMutablePointer<UInt8>
    private(set) var capacity: Int
    var count = 0

    init(capacity: Int) {
        self.capacity = max(capacity, 64)
        unsafe base = unsafe Self.resized(nil, from: 0, to: self.capacity)
    }

    func free() {
        var size = capacity
        #if os(Linux) && !PORTABLE
            // Pages take the system time to take back, as they did to be cleared: a hundred megabytes some 8 ms.
            while size > 2 * Self.stepBytes {
                _ = unsafe Self.resized(base, from: size, to: size - Self.stepBytes)
                size -= Self.stepBytes
                BackgroundWork.giveWay()
            }
        #endif
        unsafe RawMemory.free(base, size)
    }

    private static var stepBytes: Int { 1 << 20 }

    /// Forgets everything, and takes less memory from now on.
    mutating func shrink(to capacity: Int) {
        free()
        self = RawBuffer(capacity: capacity)
    }

    /// How many bytes after `count` may be read and written.
    static var slack: Int { 32 }

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

    /// Appends a piece of another buffer of this kind, whose slack may be read as well.
    @inline(__always)
    mutating func append(piece source: UnsafePointer<UInt8>, _ length: Int) {
        reserve(max(length, 32))
        unsafe Self.copy(source, to: base + count, length)
        count += length
    }

    /// Copies a piece; where it is short, up to 32 bytes from there on.
    @inline(__always)
    static func copy(_ source: UnsafePointer<UInt8>, to target: UnsafeMutablePointer<UInt8>, _ length: Int) {
        guard length <= 32 else { return unsafe target.update(from: source, count: length) }
        let (source, target) = unsafe (UnsafeRawPointer(source), UnsafeMutableRawPointer(target))
        let first = unsafe source.loadUnaligned(as: SIMD16<UInt8>.self)
        let second = unsafe source.loadUnaligned(fromByteOffset: 16, as: SIMD16<UInt8>.self)
        unsafe target.storeBytes(of: first, as: SIMD16<UInt8>.self)
        unsafe target.storeBytes(of: second, toByteOffset: 16, as: SIMD16<UInt8>.self)
    }

    /// Appends a key that is known.
    @inline(__always)
    mutating func name(_ name: UnsafePointer<KeyName>) {
        reserve(24)
        unsafe name.pointee.store(at: base + count)
        unsafe count += Int(name.pointee.length)
    }

    /// Appends the head of an item in its shortest form (RFC 8949, section 3).
    @inline(__always)
    mutating func head(_ major: UInt8, _ argument: UInt64) {
        reserve(9)
        count = unsafe Self.head(at: base + count, major, argument) - base
    }

    /// The same into memory that has room for 9 bytes; gives the place after it.
    @inline(__always)
    static func head(
        at place: UnsafeMutablePointer<UInt8>, _ major: UInt8, _ argument: UInt64
    ) -> UnsafeMutablePointer<UInt8> {
        if argument < 24 {
            unsafe place[0] = major | UInt8(truncatingIfNeeded: argument)
            return unsafe place + 1
        }
        return unsafe wideHead(at: place, major, argument)
    }

    /// The head of an argument of 24 or more.
    @inline(__always)
    private static func wideHead(
        at place: UnsafeMutablePointer<UInt8>, _ major: UInt8, _ argument: UInt64
    ) -> UnsafeMutablePointer<UInt8> {
        switch argument {
        case ...0xFF:
            unsafe place[0] = major | 24
            unsafe place[1] = UInt8(truncatingIfNeeded: argument)
            return unsafe place + 2
        case ...0xFFFF: return unsafe store(at: place, major | 25, UInt16(truncatingIfNeeded: argument))
        case ...0xFFFF_FFFF: return unsafe store(at: place, major | 26, UInt32(truncatingIfNeeded: argument))
        default: return unsafe store(at: place, major | 27, argument)
        }
    }

    /// Writes a head byte and its argument, highest byte first.
    @inline(__always)
    private static func store<N: FixedWidthInteger>(
        at place: UnsafeMutablePointer<UInt8>, _ first: UInt8, _ value: N
    ) -> UnsafeMutablePointer<UInt8> {
        unsafe place[0] = first
        unsafe UnsafeMutableRawPointer(place + 1).storeBytes(of: value.bigEndian, as: N.self)
        return unsafe place + (1 + N.bitWidth / 8)
    }

    @inline(__always)
    mutating func signed(_ value: Int64) {
        // The complement of a negative number is −1 − n, which is its argument.
        if value >= 0 { head(0x00, UInt64(value)) } else { head(0x20, UInt64(~value)) }
    }

    @inline(__always)
    mutating func text(_ value: String) {
        let isWritten: Void? = unsafe value.utf8.withContiguousStorageIfAvailable { unsafe text($0) }
        if isWritten == nil {
            var value = value
            value.withUTF8 { unsafe text($0) }
        }
    }

    @inline(__always)
    mutating func text(_ utf8: UnsafeBufferPointer<UInt8>) {
        head(0x60, UInt64(utf8.count))
        if let start = utf8.baseAddress { unsafe append(short: start, utf8.count) }
    }

    /// Appends foreign memory, which is mostly short: pieces that overlap cost less than finding out how to copy.
    @inline(__always)
    private mutating func append(short source: UnsafePointer<UInt8>, _ length: Int) {
        reserve(length)
        unsafe Self.copy(short: source, to: base + count, length)
        count += length
    }

    @inline(__always)
    static func copy(short source: UnsafePointer<UInt8>, to target: UnsafeMutablePointer<UInt8>, _ length: Int) {
        let (source, target) = unsafe (UnsafeRawPointer(source), UnsafeMutableRawPointer(target))
        func copy<Piece: BitwiseCopyable>(_ piece: Piece.Type, at offset: Int) {
            unsafe target.storeBytes(
                of: source.loadUnaligned(fromByteOffset: offset, as: piece), toByteOffset: offset, as: piece)
        }
        switch length {
        case 8...16:
            copy(UInt64.self, at: 0)
            copy(UInt64.self, at: length - 8)
        case 17...32:
            copy(SIMD16<UInt8>.self, at: 0)
            copy(SIMD16<UInt8>.self, at: length - 16)
        case 4...7:
            copy(UInt32.self, at: 0)
            copy(UInt32.self, at: length - 4)
        case 2...3:
            copy(UInt16.self, at: 0)
            copy(UInt16.self, at: length - 2)
        case 1:
            copy(UInt8.self, at: 0)
        default:
            unsafe target.copyMemory(from: source, byteCount: length)
        }
    }

    mutating func byteString(_ value: [UInt8]) {
        head(0x40, UInt64(value.count))
        unsafe value.withUnsafeBufferPointer { bytes in
            if let start = bytes.baseAddress { unsafe append(start, bytes.count) }
        }
    }

    /// The shortest of the three float forms that keeps the value; every NaN becomes one (RFC 8949, section 4.2).
    mutating func float(_ value: Double) {
        reserve(9)
        count = unsafe Self.float(at: base + count, value) - base
    }

    mutating func float(_ value: Float) {
        reserve(9)
        count = unsafe Self.float(at: base + count, value) - base
    }

    /// The same into memory that has room for 9 bytes; gives the place after it.
    @inline(__always)
    static func float(at place: UnsafeMutablePointer<UInt8>, _ value: Double) -> UnsafeMutablePointer<UInt8> {
        let single = Float(value)
        if Double(single) == value || value.isNaN { return unsafe float(at: place, single) }
        return unsafe store(at: place, 0xFB, value.bitPattern)
    }

    static func float(at place: UnsafeMutablePointer<UInt8>, _ value: Float) -> UnsafeMutablePointer<UInt8> {
        if value.isNaN { return unsafe store(at: place, 0xF9, CBORFloat.nanBits) }
        if let half = CBORFloat.half(exactly: value) { return unsafe store(at: place, 0xF9, half) }
        return unsafe store(at: place, 0xFA, value.bitPattern)
    }
}
