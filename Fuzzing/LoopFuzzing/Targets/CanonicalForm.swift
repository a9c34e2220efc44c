/// Whether a document is in the deterministic encoding of RFC 8949, section 4.2.1: written from the RFC, and not from the
/// encoder that it judges.
struct CanonicalForm {
    private let bytes: [UInt8]
    private var place = 0

    /// - Throws: `FuzzFinding` with the first byte that would have to be another one.
    static func check(_ bytes: [UInt8]) throws {
        var form = CanonicalForm(bytes: bytes)
        try form.item(depth: 0)
        try form.must(form.place == bytes.count, "ends")
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    private func must(_ condition: Bool, _ what: String) throws {
        try require(condition, "byte \(place) of \(bytes) is not canonical: \(what)")
    }

    private mutating func next() throws -> UInt8 {
        try must(place < bytes.count, "is missing")
        defer { place += 1 }
        return bytes[place]
    }

    private mutating func item(depth: Int) throws {
        try must(depth <= 64, "nested too deep")
        let first = try next()
        let (major, info) = (first >> 5, first & 31)
        try must(info < 28, "indefinite, or nothing")
        if major == 7 { return try simple(info) }
        let argument = try argument(info)
        switch major {
        case 0, 1: break
        case 2, 3:
            try must(argument <= UInt64(bytes.count - place), "shorter than it says")
            place += Int(argument)
        case 4: for _ in 0..<argument { try item(depth: depth + 1) }
        case 5: try entries(argument, depth)
        default: try must(false, "a tag, which the coder never writes")
        }
    }

    private mutating func argument(_ info: UInt8) throws -> UInt64 {
        if info < 24 { return UInt64(info) }
        let width = 1 << Int(info - 24)
        var value: UInt64 = 0
        for _ in 0..<width { value = value << 8 | UInt64(try next()) }
        let least: UInt64 = width == 1 ? 24 : 1 << UInt64(width * 4)
        try must(value >= least, "a number that is not in its shortest form")
        return value
    }

    private mutating func entries(_ count: UInt64, _ depth: Int) throws {
        var last: ArraySlice<UInt8>?
        for _ in 0..<count {
            let start = place
            try item(depth: depth + 1)
            let key = bytes[start..<place]
            if let last { try must(last.lexicographicallyPrecedes(key), "keys out of order") }
            last = key
            try item(depth: depth + 1)
        }
    }

    private mutating func simple(_ info: UInt8) throws {
        switch info {
        case 20...22: break
        case 25:
            let bits = UInt16(try bits(2))
            try must(bits & 0x7c00 != 0x7c00 || bits & 0x3ff == 0 || bits == 0x7e00, "another NaN")
        case 26:
            let value = Float(bitPattern: UInt32(try bits(4)))
            // A half has 11 bits of fraction, and exponents from −24 on.
            let isHalf =
                value.isNaN || value.isInfinite || value == 0
                || (abs(value) <= 65504 && value.remainder(dividingBy: max(0x1p-24, value.ulp * 8192)) == 0)
            try must(!isHalf, "a float that is shorter")
        case 27:
            let value = Double(bitPattern: try bits(8))
            try must(!value.isNaN && Double(Float(value)) != value, "a float that is shorter")
        default: try must(false, "a simple value that the coder never writes")
        }
    }

    private mutating func bits(_ width: Int) throws -> UInt64 {
        var value: UInt64 = 0
        for _ in 0..<width { value = value << 8 | UInt64(try next()) }
        return value
    }
}
