import Foundation
import Glibc

/// A server that answers with any bytes, and closes the connection after them.
final class OddServer: Sendable {
    let port: UInt16
    private let listener: Int32

    /// - Parameter answer: The bytes for a method, a path and a whole head, or nil to leave the connection open in silence.
    init(_ answer: @escaping @Sendable (_ method: String, _ path: String, _ head: String) -> [UInt8]?) throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) == 0 && listen(listener, 100) == 0 && getsockname(listener, $0, &length) == 0
            }
        }
        guard isListening else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        self.listener = listener
        port = UInt16(bigEndian: address.sin_port)
        Thread.detachNewThread { Self.serve(listener, answer) }
    }

    deinit { shutdown(listener, Int32(SHUT_RDWR)) }

    private static func serve(_ listener: Int32, _ answer: (String, String, String) -> [UInt8]?) {
        var silent: [Int32] = []
        while case let connection = accept(listener, nil, nil), connection >= 0 {
            let head = readHead(connection)
            let words = head.split(separator: " ", maxSplits: 2).map(String.init)
            guard words.count == 3, let bytes = answer(words[0], words[1], head) else {
                silent.append(connection)
                continue
            }
            var sent = 0
            while sent < bytes.count {
                let count = bytes[sent...].withUnsafeBytes {
                    send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                if count <= 0 { break }
                sent += count
            }
            shutdown(connection, Int32(SHUT_WR))
            close(connection)
        }
        for connection in silent { close(connection) }
        close(listener)
    }

    private static func readHead(_ connection: Int32) -> String {
        var head: [UInt8] = []
        var byte: UInt8 = 0
        while !head.suffix(4).elementsEqual("\r\n\r\n".utf8), recv(connection, &byte, 1, 0) == 1 { head.append(byte) }
        return String(decoding: head, as: UTF8.self)
    }
}
