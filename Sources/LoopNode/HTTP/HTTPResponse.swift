// Unsafe: libmicrohttpd copies what it receives, or keeps a reference until it frees the response.

internal import CHTTPD
internal import Glibc

/// Sends answers through libmicrohttpd.
package enum HTTPResponse {
    /// The usual phrase of a status, or nil if it has none.
    package static func phrase(of status: Int) -> String? {
        unsafe MHD_get_reason_phrase_for(UInt32(clamping: status)).map { unsafe String(cString: $0) }
    }

    /// Queues an answer on a connection.
    /// - Parameter resting: lets the connection rest for a time.
    static func send(
        _ answer: consuming HTTPAnswer, on connection: OpaquePointer, resting: (Duration) -> Void
    ) -> MHD_Result {
        switch consume answer {
        case .later(let delay):
            resting(delay)
            return .YES
        case .drop: return .NO
        case .reply(let reply):
            let response = unsafe reply.body.withUnsafeBytes { body in
                unsafe MHD_create_response_from_buffer(
                    body.count, UnsafeMutableRawPointer(mutating: body.baseAddress), .RESPMEM_MUST_COPY)
            }
            return unsafe queue(response, reply.status, reply.headers, on: connection)
        case .file(let file, let bytes, let headers):
            // The response owns its own descriptor, and sends the file without copying it through this process.
            let copy = fcntl(file.number, F_DUPFD_CLOEXEC, 0)
            let response = unsafe copy < 0 ? nil : MHD_create_response_from_fd64(bytes, copy)
            if unsafe response == nil, copy >= 0 { close(copy) }
            return unsafe queue(response, 200, headers, on: connection)
        case .stream(let source, let headers):
            return unsafe queue(response(of: source), 200, headers, on: connection)
        }
    }

    private static func queue(
        _ response: OpaquePointer?, _ status: Int, _ headers: [(String, String)],
        on connection: OpaquePointer
    ) -> MHD_Result {
        guard let response = unsafe response else { return .NO }
        defer { unsafe MHD_destroy_response(response) }
        for (name, value) in headers { unsafe MHD_add_response_header(response, name, value) }
        return unsafe MHD_queue_response(connection, UInt32(clamping: status), response)
    }

    /// Keeps a source as long as libmicrohttpd has its response.
    private final class Kept {
        let source: any HTTPSource
        init(_ source: any HTTPSource) { self.source = source }

        static func of(_ pointer: UnsafeMutableRawPointer?) -> Unmanaged<Kept> {
            guard let pointer = unsafe pointer else {
                preconditionFailure("libmicrohttpd has lost the source that it was given")
            }
            return unsafe Unmanaged<Kept>.fromOpaque(pointer)
        }
    }

    private static func response(of source: any HTTPSource) -> OpaquePointer? {
        unsafe MHD_create_response_from_callback(
            UInt64.max, 16 << 10,
            { kept, _, buffer, count in
                guard let bytes = unsafe Kept.of(kept).takeUnretainedValue().source.next(atMost: count)
                else { return -1 }
                unsafe bytes.withUnsafeBytes {
                    unsafe UnsafeMutableRawBufferPointer(start: buffer, count: count).copyMemory(from: $0)
                }
                return bytes.count
            },
            unsafe Unmanaged.passRetained(Kept(source)).toOpaque(),
            { unsafe Kept.of($0).takeRetainedValue().source.connectionEnded() })
    }
}
