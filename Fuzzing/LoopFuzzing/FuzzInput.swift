/// Takes an input apart for a target that needs more than one thing of it. What is missing is zero or empty, so that every
/// input means something.
struct FuzzInput {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { rest = bytes[...] }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

    /// 8 bytes, the lowest first.
    mutating func number() -> UInt64 {
        var value: UInt64 = 0
        for shift in stride(from: 0, to: 64, by: 8) { value |= UInt64(byte()) << UInt64(shift) }
        return value
    }

    /// A count of 2 bytes, the lowest first, and as many bytes, or fewer where the input ends.
    mutating func chunk() -> [UInt8] {
        let count = Int(byte()) | Int(byte()) << 8
        let chunk = rest.prefix(count)
        rest = rest.dropFirst(chunk.count)
        return Array(chunk)
    }
}

/// Writes what ``FuzzInput`` takes apart, for seeds.
struct FuzzScript {
    private(set) var bytes: [UInt8] = []

    mutating func byte(_ value: UInt8) { bytes.append(value) }

    mutating func number(_ value: UInt64) {
        for shift in stride(from: 0, to: 64, by: 8) { bytes.append(UInt8(truncatingIfNeeded: value >> UInt64(shift))) }
    }

    mutating func chunk(_ chunk: [UInt8]) {
        byte(UInt8(truncatingIfNeeded: chunk.count))
        byte(UInt8(truncatingIfNeeded: chunk.count >> 8))
        bytes += chunk
    }
}
