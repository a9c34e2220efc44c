internal import Glibc

package struct ConnectionRefused: Error {}

package struct Answer {
    package var status = 0
    package var headers: [String: String] = [:]
    package var body = ""
}

/// A connection to a web server, by a client that sends given bytes.
package final class Connection {
    private let descriptor: Int32
    private var buffer: [UInt8] = []

    package init(port: UInt16) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        if result != 0 { throw ConnectionRefused() }
    }

    deinit { close(descriptor) }

    package func send(_ text: String) {
        let bytes = Array(text.utf8)
        _ = Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }

    /// Says that nothing more will be sent.
    package func finish() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// The next answer; status 0 where the connection ends before it.
    package func receive(hasBody: Bool = true) -> Answer {
        var answer = Answer()
        while end(of: buffer) == nil { if !fill() { return answer } }
        guard let end = end(of: buffer) else { return answer }
        let lines = String(decoding: buffer[..<end], as: UTF8.self).split(separator: "\r\n")
        answer.status = lines.first.flatMap { Int($0.split(separator: " ")[1]) } ?? 0
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            answer.headers[parts[0].lowercased()] = String(parts[1].drop { $0 == " " })
        }
        buffer.removeFirst(end + 4)
        let length = hasBody ? answer.headers["content-length"].flatMap { Int($0) } ?? 0 : 0
        while buffer.count < length { if !fill() { break } }
        answer.body = String(decoding: buffer.prefix(length), as: UTF8.self)
        buffer.removeFirst(min(length, buffer.count))
        return answer
    }

    /// The next line, without its end; nil at the end of the connection. For answers that go on and on.
    package func line() -> String? {
        while true {
            if let end = buffer.firstIndex(of: UInt8(ascii: "\n")) {
                let line = buffer[..<end]
                buffer.removeFirst(end + 1)
                return String(decoding: line.last == 13 ? line.dropLast() : line, as: UTF8.self)
            }
            if !fill() { return nil }
        }
    }

    private func end(of bytes: [UInt8]) -> Int? {
        guard bytes.count >= 4 else { return nil }
        return (0...(bytes.count - 4)).first { bytes[$0..<($0 + 4)].elementsEqual("\r\n\r\n".utf8) }
    }

    private func fill() -> Bool {
        var piece = [UInt8](repeating: 0, count: 65536)
        let count = recv(descriptor, &piece, piece.count, 0)
        guard count > 0 else { return false }
        buffer += piece[..<count]
        return true
    }
}
