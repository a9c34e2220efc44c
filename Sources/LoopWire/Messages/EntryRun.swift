public import LoopCore

/// Entries one behind the other, in the bytes in which they travel.
///
///     bytes   … ┌ entry 0 ┬ entry 1 ┬ entry 2 ┐ …
///     ends              ─┘         ─┘         ─┘
///
/// A sender writes each entry once; outbox and batches hold parts of what it wrote. A slice shares the bytes and keeps
/// its indices; an entry taken out shares its payload.
public struct EntryRun: RandomAccessCollection, Sendable {
    private var storage: [UInt8]
    /// Where the entries end in `storage`, and before the first one where it begins.
    private var bounds: [Int]
    public private(set) var startIndex = 0
    public private(set) var endIndex: Int
    /// The largest payload; of a slice, at least that.
    public private(set) var payloadBytesMax = 0
    /// Whether all are events of no effect, for whose seq nobody asks. A slice of others may say false although it could
    /// say true.
    public private(set) var isPlain = true

    public init() {
        storage = []
        bounds = [0]
        endIndex = 0
    }

    public init(_ entries: some Sequence<Entry>) {
        self.init()
        for entry in entries { append(entry) }
    }

    /// Reads entries that may be anything; they stay in these bytes, from whose first one the reader counts.
    init(_ count: Int, from reader: inout ByteReader, in bytes: [UInt8]) throws(WireError) {
        storage = bytes
        bounds = []
        // As many as there can be, whatever the count says: an entry has at least 6 bytes.
        bounds.reserveCapacity(Swift.min(count, reader.remaining / 6 + 1) + 1)
        bounds.append(reader.position)
        endIndex = count
        for _ in 0..<quickly(count, &reader) {
            note(try EntryHead(from: &reader))
            bounds.append(reader.position)
        }
    }

    /// Takes the entries with which nothing is wrong.
    /// - Returns: how many are left from the first one with which something is, for the reader to say what.
    private mutating func quickly(_ count: Int, _ reader: inout ByteReader) -> Int {
        var offset = reader.position
        var taken = 0
        storage.withUnsafeBytes { bytes in
            while taken < count, let entry = EntryHead.sizes(bytes, at: offset) {
                payloadBytesMax = Swift.max(payloadBytesMax, entry.payload)
                if entry.flags != 0 { isPlain = false }
                offset += entry.all
                bounds.append(offset)
                taken += 1
            }
        }
        // Within what there is: it was just looked at.
        try? reader.skip(offset - reader.position)
        return count - taken
    }

    /// How many bytes they take.
    public var byteCount: Int { bounds[endIndex] - bounds[startIndex] }

    /// Their bytes, as they travel.
    public var bytes: ArraySlice<UInt8> { storage[bounds[startIndex]..<bounds[endIndex]] }

    public subscript(position: Int) -> Entry {
        precondition(position >= startIndex && position < endIndex, "entry \(position) of \(startIndex)..<\(endIndex)")
        return storage.withUnsafeBytes { buffer in
            let head = EntryHead(trusting: buffer, at: bounds[position])
            return Entry(head, storage[head.payload])
        }
    }

    /// What stands before the payload of an entry.
    package func head(at position: Int) -> EntryHead {
        precondition(position >= startIndex && position < endIndex, "entry \(position) of \(startIndex)..<\(endIndex)")
        return storage.withUnsafeBytes { EntryHead(trusting: $0, at: bounds[position]) }
    }

    /// The entry of a head that was read from this run.
    package func entry(_ head: EntryHead) -> Entry { Entry(head, storage[head.payload]) }

    /// Calls with what stands before the payload of each entry of a part, in order, until `body` returns false.
    package func forEachHead(in range: Range<Int>, _ body: (Int, EntryHead) -> Bool) {
        precondition(range.lowerBound >= startIndex && range.upperBound <= endIndex, "entries \(range)")
        storage.withUnsafeBytes { bytes in
            bounds.withUnsafeBufferPointer { bounds in
                for position in range {
                    guard body(position, EntryHead(trusting: bytes, at: bounds[position])) else { return }
                }
            }
        }
    }

    public subscript(range: Range<Int>) -> EntryRun {
        precondition(range.lowerBound >= startIndex && range.upperBound <= endIndex, "entries \(range)")
        var slice = self
        slice.startIndex = range.lowerBound
        slice.endIndex = range.upperBound
        return slice
    }

    /// How many bytes some of them take.
    public func byteCount(of range: Range<Int>) -> Int { bounds[range.upperBound] - bounds[range.lowerBound] }

    /// How many entries from an index on take at most so many bytes; one at least, if there is one.
    public func count(from start: Int, bytesMax: Int) -> Int {
        guard start < endIndex else { return 0 }
        let limit = bounds[start] + bytesMax
        if bounds[endIndex] <= limit { return endIndex - start }
        var (low, high) = (start + 1, endIndex)
        while low < high {
            let middle = (low + high + 1) / 2
            if bounds[middle] <= limit { low = middle } else { high = middle - 1 }
        }
        return low - start
    }

    // MARK: Writing

    public mutating func append(_ entry: Entry) {
        entry.payload.withUnsafeBytes {
            append(
                entry.kind, of: entry.effect.map { ($0, entry.attempt) }, wantsSeq: entry.wantsSeq,
                isLast: entry.isLast, payload: $0)
        }
    }

    /// Appends an entry whose payload is copied.
    public mutating func append(
        _ kind: Entry.Kind, of effect: (id: EffectID, attempt: Attempt)?, wantsSeq: Bool, isLast: Bool = false,
        payload: UnsafeRawBufferPointer
    ) {
        precondition(!isLast || kind == .event && effect != nil, "only an event of an effect can be its last")
        precondition(endIndex == bounds.count - 1, "a slice of a run takes no entries")
        let size = (effect == nil ? 6 : 38) + payload.count
        storage.append(addingCapacity: size) { (output: inout OutputSpan<UInt8>) in
            output.fill(size) { room in
                room[0] = kind.rawValue
                room[1] = EntryHead.flags(hasEffect: effect != nil, wantsSeq: wantsSeq, isLast: isLast)
                if let effect { room.store(effect.id, effect.attempt, at: 2) }
                let head = size - payload.count
                room.storeBytes(of: UInt32(payload.count).littleEndian, toByteOffset: head - 4, as: UInt32.self)
                UnsafeMutableRawBufferPointer(rebasing: room[head...]).copyMemory(from: payload)
            }
        }
        endIndex += 1
        bounds.append(storage.count)
        payloadBytesMax = Swift.max(payloadBytesMax, payload.count)
        if effect != nil || wantsSeq { isPlain = false }
    }

    /// Appends all entries of another run.
    public mutating func append(_ other: EntryRun) {
        precondition(endIndex == bounds.count - 1, "a slice of a run takes no entries")
        let shift = storage.count - other.bounds[other.startIndex]
        storage += other.bytes
        bounds.reserveCapacity(bounds.count + other.count)
        for index in other.startIndex..<other.endIndex { bounds.append(other.bounds[index + 1] + shift) }
        endIndex += other.count
        payloadBytesMax = Swift.max(payloadBytesMax, other.payloadBytesMax)
        isPlain = isPlain && other.isPlain
    }

    /// Forgets all entries and keeps the memory, for the next ones.
    public mutating func removeAll() {
        storage.removeAll(keepingCapacity: true)
        bounds.removeAll(keepingCapacity: true)
        bounds.append(0)
        (startIndex, endIndex, payloadBytesMax, isPlain) = (0, 0, 0, true)
    }

    private mutating func note(_ head: EntryHead) {
        payloadBytesMax = Swift.max(payloadBytesMax, head.payload.count)
        if head.flags != 0 { isPlain = false }
    }
}

extension EntryRun: Equatable {
    /// Whether they are the same entries.
    public static func == (a: EntryRun, b: EntryRun) -> Bool { a.count == b.count && a.bytes == b.bytes }
}

extension EntryRun: ExpressibleByArrayLiteral {
    public init(arrayLiteral entries: Entry...) { self.init(entries) }
}

/// What stands before an entry's payload, and where that is.
package struct EntryHead: Equatable, Sendable {
    package let kind: Entry.Kind
    /// 1: has an effect; 2: the sender wants the seq; 4: the effect's body has ended with this event.
    let flags: UInt8
    /// Where it has one.
    package let effect: EffectID
    package let attempt: Attempt
    /// In the bytes it was read from.
    let payload: Range<Int>

    package var hasEffect: Bool { flags & 1 != 0 }
    package var wantsSeq: Bool { flags & 2 != 0 }
    /// Whether the effect's body has ended with this entry.
    package var endsTheBody: Bool { kind != .event || flags & 4 != 0 }

    @inline(__always)
    static func flags(hasEffect: Bool, wantsSeq: Bool, isLast: Bool) -> UInt8 {
        (hasEffect ? 1 : 0) | (wantsSeq ? 2 : 0) | (isLast ? 4 : 0)
    }

    /// Whether an entry of a kind may have these flags.
    @inline(__always)
    private static func areSound(_ flags: UInt8, of kind: Entry.Kind) -> Bool {
        if flags & 1 == 0 { return flags <= 3 && kind == .event }
        return flags <= 3 || flags <= 7 && kind == .event
    }

    /// Reads a whole entry, and skips its payload.
    init(from reader: inout ByteReader) throws(WireError) {
        let code = try reader.u8()
        guard let kind = Entry.Kind(rawValue: code) else {
            throw .malformed(what: "entry kind \(code)", offset: reader.position)
        }
        flags = try reader.u8()
        guard Self.areSound(flags, of: kind) else {
            throw .malformed(what: "a \(kind) entry with flags \(flags)", offset: reader.position)
        }
        self.kind = kind
        if flags & 1 != 0 {
            effect = try reader.effect()
            attempt = try reader.attempt()
        } else {
            (effect, attempt) = (EntryHead.noEffect, .none)
        }
        let size = Int(try reader.u32())
        let start = reader.position
        try reader.skip(size)
        payload = start..<start + size
    }

    /// The flags of an entry, how large its payload is, and how large it is itself; nil: it is none, or not all of it is there.
    @inline(__always)
    static func sizes(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> (flags: UInt8, payload: Int, all: Int)? {
        let there = bytes.count - offset
        guard there >= 6, let kind = Entry.Kind(rawValue: bytes[offset]) else { return nil }
        let flags = bytes[offset + 1]
        let head = flags & 1 != 0 ? 38 : 6
        guard areSound(flags, of: kind), there >= head else { return nil }
        let size = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset + head - 4, as: UInt32.self))
        guard Int(size) <= there - head else { return nil }
        return (flags, Int(size), head + Int(size))
    }

    /// Reads an entry that was written or read before.
    init(trusting bytes: UnsafeRawBufferPointer, at offset: Int) {
        var next = offset
        func word<N: FixedWidthInteger & BitwiseCopyable>(_ type: N.Type) -> N {
            defer { next += MemoryLayout<N>.size }
            return N(littleEndian: bytes.loadUnaligned(fromByteOffset: next, as: type))
        }
        kind = Entry.Kind(rawValue: word(UInt8.self)) ?? .event
        flags = word(UInt8.self)
        if flags & 1 != 0 {
            effect = EffectID(feedback: word(UInt32.self), seq: Seq(word(UInt64.self)), index: word(UInt32.self))
            attempt = Attempt(epoch: word(UInt64.self), count: word(UInt64.self))
        } else {
            (effect, attempt) = (EntryHead.noEffect, .none)
        }
        let size = Int(word(UInt32.self))
        payload = next..<next + size
    }

    private static var noEffect: EffectID { EffectID(feedback: 0, seq: .initial, index: 0) }
}

extension Entry {
    init(_ head: EntryHead, _ payload: ArraySlice<UInt8>) {
        self.init(
            kind: head.kind, effect: head.flags & 1 != 0 ? head.effect : nil, attempt: head.attempt, payload: payload,
            wantsSeq: head.wantsSeq, isLast: head.flags & 4 != 0)
    }
}

extension OutputSpan<UInt8> {
    /// Appends so many bytes, all of which `fill` writes.
    @inline(__always)
    mutating func fill(_ byteCount: Int, _ fill: (UnsafeMutableRawBufferPointer) -> Void) {
        withUnsafeMutableBufferPointer { buffer, count in
            fill(
                UnsafeMutableRawBufferPointer(
                    rebasing: UnsafeMutableRawBufferPointer(buffer)[count..<count + byteCount]))
            count += byteCount
        }
    }

    /// Appends bytes as they are.
    @inlinable
    package mutating func append(raw bytes: UnsafeRawBufferPointer) {
        withUnsafeMutableBufferPointer { buffer, count in
            precondition(bytes.count <= buffer.count - count, "\(bytes.count) bytes into \(buffer.count - count)")
            if let source = bytes.baseAddress, let target = buffer.baseAddress {
                UnsafeMutableRawPointer(target + count).copyMemory(from: source, byteCount: bytes.count)
            }
            count += bytes.count
        }
    }
}
