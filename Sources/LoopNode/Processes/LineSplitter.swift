/// Splits a stream of bytes into lines, however the bytes arrive.
struct LineSplitter {
    private let bytesMax: Int
    private var pending: [UInt8] = []

    /// - Parameter bytesMax: the length at which a line is cut.
    init(bytesMax: Int = 16 << 20) { self.bytesMax = bytesMax }

    /// Takes the next bytes and gives each line that is complete now, without `\n` or `\r\n`.
    mutating func feed(_ bytes: some Sequence<UInt8>, line: (String) -> Void) {
        for byte in bytes {
            if byte == UInt8(ascii: "\n") {
                if pending.last == UInt8(ascii: "\r") { pending.removeLast() }
                flush(line)
            } else {
                pending.append(byte)
                if pending.count >= bytesMax { flush(line) }
            }
        }
    }

    /// Gives the last line, if it has no newline.
    mutating func finish(line: (String) -> Void) {
        if !pending.isEmpty { flush(line) }
    }

    private mutating func flush(_ line: (String) -> Void) {
        line(String(decoding: pending, as: UTF8.self))
        pending.removeAll(keepingCapacity: true)
    }
}
