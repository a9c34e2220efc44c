/// Growing memory of this module's own, written through a bare pointer: no reference counts, no uniqueness checks.
///
/// Whoever holds it frees it. There is always room for 8 bytes beyond `count`, so that keys can be compared a word
/// at a time.
struct RawBuffer {
    private(set) var base: UnsafeMutablePointer<UInt8>
    private(set) var capacity: Int
    var count = 0

    init(capacity: Int) {
        self.capacity = max(capacity, 64)
        base = .allocate(capacity: self.capacity)
    }

    func free() { base.deallocate() }

    @inline(__always)
    mutating func reserve(_ more: Int) {
        if capacity - count < more + 8 { grow(more) }
    }

    @inline(never)
    private mutating func grow(_ more: Int) {
        let larger = max(capacity * 2, count + more + 8)
        let moved = UnsafeMutablePointer<UInt8>.allocate(capacity: larger)
        moved.update(from: base, count: count)
        base.deallocate()
        base = moved
        capacity = larger
    }

    @inline(__always)
    mutating func byte(_ value: UInt8) {
        reserve(1)
        base[count] = value
        count += 1
    }

    @inline(__always)
    mutating func append(_ source: UnsafePointer<UInt8>, _ length: Int) {
        reserve(length)
        (base + count).update(from: source, count: length)
        count += length
    }

    /// Appends the head of an item in its shortest form (RFC 8949, section 3).
    @inline(__always)
    mutating func head(_ major: UInt8, _ argument: UInt64) {
        reserve(9)
        if argument < 24 {
            base[count] = major | UInt8(truncatingIfNeeded: argument)
            count += 1
        } else {
            wideHead(major, argument)
        }
    }

    /// The head of an argument of 24 or more.
    private mutating func wideHead(_ major: UInt8, _ argument: UInt64) {
        switch argument {
        case ...0xFF:
            base[count] = major | 24
            base[count + 1] = UInt8(truncatingIfNeeded: argument)
            count += 2
        case ...0xFFFF:
            base[count] = major | 25
            store(UInt16(truncatingIfNeeded: argument))
        case ...0xFFFF_FFFF:
            base[count] = major | 26
            store(UInt32(truncatingIfNeeded: argument))
        default:
            base[count] = major | 27
            store(argument)
        }
    }

    /// Writes the argument behind the head byte at `count`, highest byte first, and steps over both.
    @inline(__always)
    private mutating func store<N: FixedWidthInteger>(_ value: N) {
        UnsafeMutableRawPointer(base + count + 1).storeBytes(of: value.bigEndian, as: N.self)
        count += 1 + N.bitWidth / 8
    }

    @inline(__always)
    mutating func signed(_ value: Int64) {
        // The complement of a negative number is −1 − n, which is its argument.
        if value >= 0 { head(0x00, UInt64(value)) } else { head(0x20, UInt64(~value)) }
    }

    @inline(__always)
    mutating func text(_ value: String) {
        var value = value
        value.withUTF8 { utf8 in
            head(0x60, UInt64(utf8.count))
            if let start = utf8.baseAddress { append(start, utf8.count) }
        }
    }

    mutating func byteString(_ value: UnsafeBufferPointer<UInt8>) {
        head(0x40, UInt64(value.count))
        if let start = value.baseAddress { append(start, value.count) }
    }

    /// The shortest of the three float forms that keeps the value; every NaN becomes one (RFC 8949, section 4.2).
    mutating func float(_ value: Double) {
        let single = Float(value)
        if value.isNaN {
            reserve(3)
            base[count] = 0xF9
            store(CBORFloat.nanBits)
        } else if Double(single) == value {
            float(single)
        } else {
            reserve(9)
            base[count] = 0xFB
            store(value.bitPattern)
        }
    }

    mutating func float(_ value: Float) {
        reserve(5)
        if value.isNaN {
            base[count] = 0xF9
            store(CBORFloat.nanBits)
        } else if let half = CBORFloat.half(exactly: value) {
            base[count] = 0xF9
            store(half)
        } else {
            base[count] = 0xFA
            store(value.bitPattern)
        }
    }
}
