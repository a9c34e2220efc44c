/// Values written as one writes them by hand: fields in their order, little-endian, lengths in front; no names, no checks
/// beyond the end of the bytes. What a coder is measured against.
protocol HandCodable {
    func write(to writer: inout HandWriter)
    init(from reader: inout HandReader) throws
}

/// Writes into memory that it keeps for the next value.
struct HandWriter {
    private var memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 8)
    private var count = 0

    /// What `write` writes.
    mutating func bytes(_ write: (inout HandWriter) -> Void) -> [UInt8] {
        count = 0
        write(&self)
        return Array(UnsafeRawBufferPointer(rebasing: memory[..<count]))
    }

    mutating func byte(_ value: UInt8) {
        reserve(1)
        memory[count] = value
        count += 1
    }

    mutating func word(_ value: UInt64) {
        reserve(8)
        memory.storeBytes(of: value.littleEndian, toByteOffset: count, as: UInt64.self)
        count += 8
    }

    mutating func half(_ value: UInt32) {
        reserve(4)
        memory.storeBytes(of: value.littleEndian, toByteOffset: count, as: UInt32.self)
        count += 4
    }

    mutating func text(_ value: String) {
        var value = value
        value.withUTF8 { utf8 in
            half(UInt32(utf8.count))
            reserve(utf8.count)
            if let text = utf8.baseAddress {
                (memory.baseAddress! + count).copyMemory(from: text, byteCount: utf8.count)
            }
            count += utf8.count
        }
    }

    private mutating func reserve(_ more: Int) {
        if memory.count - count < more { grow(more) }
    }

    @inline(never)
    private mutating func grow(_ more: Int) {
        let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: 2 * (count + more), alignment: 8)
        larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: memory[..<count]))
        memory.deallocate()
        memory = larger
    }
}

struct HandReader {
    let bytes: UnsafeRawBufferPointer
    private var next = 0

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    mutating func byte() throws -> UInt8 {
        try need(1)
        defer { next += 1 }
        return bytes[next]
    }

    mutating func word() throws -> UInt64 {
        try need(8)
        defer { next += 8 }
        return UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: next, as: UInt64.self))
    }

    mutating func half() throws -> UInt32 {
        try need(4)
        defer { next += 4 }
        return UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: next, as: UInt32.self))
    }

    mutating func text() throws -> String {
        let count = Int(try half())
        try need(count)
        defer { next += count }
        return String(decoding: bytes[next..<next + count], as: UTF8.self)
    }

    private func need(_ count: Int) throws {
        guard count <= bytes.count - next else { throw BenchmarkError.promise("bytes written by hand end too soon") }
    }
}
