extension ZoneRules {
    /// Reads a compiled zone of the system's time zone database (RFC 8536). Versions 2 and later have a rule for the time
    /// after their last change. Leap seconds are ignored.
    /// - Throws: `ScheduleError` if the bytes are no such file.
    package init(tzif bytes: [UInt8]) throws(ScheduleError) {
        var reader = TZifReader(bytes: bytes)
        var header = try reader.header()
        var width = 4
        if header.version >= 2 {
            // The first block is for readers of version 1.
            try reader.skip(header.size(width: 4))
            header = try reader.header()
            width = 8
        }
        let changes = try reader.times(header.timeCount, width: width)
        let types = try reader.bytes(header.timeCount)
        var offsets: [Int64] = []
        for _ in 0..<header.typeCount {
            offsets.append(try reader.integer(4))
            try reader.skip(2)
        }
        guard !offsets.isEmpty, types.allSatisfy({ $0 < offsets.count }),
            zip(changes, changes.dropFirst()).allSatisfy({ $0 < $1 }), offsets.allSatisfy({ abs($0) < 26 * 3600 })
        else { throw TZifReader.error }
        try reader.skip(header.rest(width: width))
        var rule: ZoneRule?
        if width == 8, let text = try reader.footer(), !text.isEmpty { rule = try ZoneRule(text) }
        self.init(
            changes: changes, offsets: types.map { offsets[Int($0)] }, firstOffset: offsets[0], rule: rule)
    }
}

/// Reads the parts of such a file in order. No count is trusted before the bytes are known to exist.
private struct TZifReader {
    struct Header {
        var version: Int
        var timeCount: Int
        var typeCount: Int
        var characterCount: Int
        var leapCount: Int
        var standardCount: Int
        var utcCount: Int

        /// The size of what follows times and types.
        func rest(width: Int) -> Int { characterCount + leapCount * (width + 4) + standardCount + utcCount }

        func size(width: Int) -> Int { timeCount * (width + 1) + typeCount * 6 + rest(width: width) }
    }

    static let error = ScheduleError("the file is not a compiled time zone (TZif)")

    private let bytes: [UInt8]
    private var position = 0

    init(bytes: [UInt8]) { self.bytes = bytes }

    private var remaining: Int { bytes.count - position }

    mutating func skip(_ count: Int) throws(ScheduleError) {
        guard count >= 0, count <= remaining else { throw Self.error }
        position += count
    }

    mutating func bytes(_ count: Int) throws(ScheduleError) -> ArraySlice<UInt8> {
        let start = position
        try skip(count)
        return bytes[start..<position]
    }

    /// A signed number of 4 or 8 bytes in big-endian order.
    mutating func integer(_ width: Int) throws(ScheduleError) -> Int64 {
        var value: UInt64 = 0
        for byte in try bytes(width) { value = value << 8 | UInt64(byte) }
        return width == 4 ? Int64(Int32(truncatingIfNeeded: value)) : Int64(bitPattern: value)
    }

    mutating func times(_ count: Int, width: Int) throws(ScheduleError) -> [Int64] {
        guard count <= remaining / width else { throw Self.error }
        var times: [Int64] = []
        for _ in 0..<count { times.append(try integer(width)) }
        return times
    }

    mutating func header() throws(ScheduleError) -> Header {
        guard try bytes(4).elementsEqual("TZif".utf8) else { throw Self.error }
        let version = try integer(of: 1)
        try skip(15)
        var counts: [Int] = []
        for _ in 0..<6 {
            let count = try integer(4)
            guard (0...Int64(bytes.count)).contains(count) else { throw Self.error }
            counts.append(Int(count))
        }
        return Header(
            version: version == 0 ? 1 : Int(version) - 48, timeCount: counts[3], typeCount: counts[4],
            characterCount: counts[5], leapCount: counts[2], standardCount: counts[1], utcCount: counts[0])
    }

    private mutating func integer(of width: Int) throws(ScheduleError) -> UInt8 {
        guard let byte = try bytes(width).first else { throw Self.error }
        return byte
    }

    /// The rule between two line feeds, or nil if there is none.
    mutating func footer() throws(ScheduleError) -> String? {
        guard remaining > 0 else { return nil }
        guard try bytes(1).first == 10, let end = bytes[position...].firstIndex(of: 10) else { throw Self.error }
        return String(decoding: try bytes(end - position), as: UTF8.self)
    }
}
