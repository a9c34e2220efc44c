import CBOR
import LoopCore
import LoopWire

/// The memory of queries as bytes.
///
/// | bytes | field |
/// |---|---|
/// | 1 | what: 0 no effect, 1 one effect, 2 one for each key, 3 no part, 4 a part |
/// | 4 + n, 16 | of 1: the request; the effect |
/// | 4, (4 + n, 16)… | of 2: a count, then keys and effects, by effect |
/// | … | of 4: what the part's query remembers |
extension QueryMemory {
    func write(to writer: inout ByteWriter) {
        switch self {
        case .single(nil): writer.u8(0)
        case .single(let one?):
            writer.u8(1)
            one.write(to: &writer)
        case .keyed(let all):
            writer.u8(2)
            writer.u32(UInt32(all.count))
            for one in all { one.write(to: &writer) }
        case .part(nil): writer.u8(3)
        case .part(let base?):
            writer.u8(4)
            base.write(to: &writer)
        }
    }

    /// - Parameter depth: how many parts within parts may follow.
    init(from reader: inout ByteReader, depth: Int = 64) throws(WireError) {
        let kind = try reader.u8()
        switch kind {
        case 0: self = .single(nil)
        case 1: self = .single(try Remembered(from: &reader))
        case 2:
            var all: [Remembered] = []
            let count = try reader.count(bytesEach: 20)
            all.reserveCapacity(count)
            for _ in 0..<count { all.append(try Remembered(from: &reader)) }
            self = .keyed(all)
        case 3: self = .part(nil)
        case 4:
            guard depth > 0 else { throw .tooDeep(limit: 64, offset: reader.position) }
            self = .part(try QueryMemory(from: &reader, depth: depth - 1))
        default: throw .malformed(what: "a memory of kind \(kind)", offset: reader.position)
        }
    }
}

extension QueryMemory.Remembered {
    func write(to writer: inout ByteWriter) {
        writer.prefixed(bytes[...])
        writer.effect(id)
    }

    init(from reader: inout ByteReader) throws(WireError) {
        self.init(bytes: Array(try reader.prefixed()), id: try reader.effect())
    }
}
