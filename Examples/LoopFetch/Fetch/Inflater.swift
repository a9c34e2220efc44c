// Unsafe: zlib keeps the address of its stream, which is freed once, and uses what it gets only during the call.

internal import CZLib

/// Decompresses a body of gzip or zlib incrementally.
@safe final class Inflater {
    private let stream: UnsafeMutablePointer<z_stream>
    /// Whether the compressed data has ended.
    private(set) var isComplete = false
    /// Whether more was valid than a header.
    var isPastHeader: Bool { unsafe stream.pointee.total_in >= 8 }

    /// - Parameter isRaw: whether the data has no header and no checksum.
    init?(isRaw: Bool) {
        unsafe stream = .allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        // 32 means gzip or zlib, by the header.
        let result = unsafe inflateInit2_(
            stream, isRaw ? -15 : 15 + 32, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        if result != Z_OK { return nil }
    }

    deinit {
        unsafe inflateEnd(stream)
        unsafe stream.deallocate()
    }

    /// Appends the decompressed content of a piece of the body, up to `bytesMax` bytes in all.
    ///
    /// - Returns: whether the data is valid.
    func inflate(_ piece: UnsafeRawBufferPointer, into body: inout [UInt8], bytesMax: Int) -> Bool {
        let room = 1 << 15
        return unsafe withUnsafeTemporaryAllocation(byteCount: room, alignment: 1) { output in
            let input = unsafe piece.assumingMemoryBound(to: UInt8.self)
            unsafe stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
            unsafe stream.pointee.avail_in = UInt32(input.count)
            while body.count <= bytesMax {
                if isComplete {
                    // Another member may follow. Other bytes after the end are not part of the body.
                    guard unsafe stream.pointee.avail_in > 0, unsafe stream.pointee.next_in.pointee == 0x1F else {
                        return true
                    }
                    unsafe inflateReset(stream)
                    isComplete = false
                }
                unsafe stream.pointee.next_out = output.assumingMemoryBound(to: UInt8.self).baseAddress
                unsafe stream.pointee.avail_out = UInt32(room)
                let result = unsafe CZLib.inflate(stream, Z_NO_FLUSH)
                let written = unsafe room - Int(stream.pointee.avail_out)
                unsafe body.append(contentsOf: output.prefix(written))
                switch result {
                case Z_STREAM_END: isComplete = true
                case Z_OK: continue
                // zlib needs more input.
                case Z_BUF_ERROR: return true
                default: return false
                }
            }
            return true
        }
    }
}
