import Glibc
import Testing

/// A peer that speaks ZMTP 3.0 by hand over TCP, and so can say what no socket of ours would.
final class ForeignPeer {
    private let descriptor: Int32

    /// Dials `tcp://127.0.0.1:PORT`.
    init(_ endpoint: String) throws {
        let port = try #require(UInt16(endpoint.split(separator: ":").last ?? ""))
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        try #require(result == 0)
    }

    deinit { close(descriptor) }

    /// Ends the connection.
    func hangUp() { shutdown(descriptor, Int32(SHUT_RDWR)) }

    /// Writes bytes as they are.
    func write(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    /// The greeting and the READY command of a socket of this type, without security; each is answered before the next.
    /// - Parameters:
    ///   - properties: what the command says besides the type.
    ///   - mechanism: the security that the greeting announces, and of which no more follows.
    func greet(
        as type: String, _ properties: KeyValuePairs<String, [UInt8]> = [:], mechanism: String = "NULL"
    ) {
        let greeting = [0xFF] + [UInt8](repeating: 0, count: 8) + [0x7F, 3, 0]
        let padding = [UInt8](repeating: 0, count: 20 - mechanism.utf8.count + 1 + 31)
        write(greeting + [UInt8](mechanism) + padding)
        read(64)
        var body = [5] + [UInt8]("READY")
        for (name, value) in [("Socket-Type", [UInt8](type))] + properties.map({ ($0.key, $0.value) }) {
            body += [UInt8(name.utf8.count)] + [UInt8](name) + [0, 0, 0, UInt8(value.count)] + value
        }
        write([4, UInt8(body.count)] + body)
        if let size = read(2).last { read(Int(size)) }
    }

    /// One message in short frames.
    func send(_ frames: [String]) {
        for (index, frame) in frames.enumerated() {
            write([index + 1 < frames.count ? 1 : 0, UInt8(frame.utf8.count)] + [UInt8](frame))
        }
    }

    /// Reads a number of bytes, or fewer if the other side hangs up.
    @discardableResult
    private func read(_ count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let received = recv(descriptor, &bytes, count, Int32(MSG_WAITALL))
        return Array(bytes.prefix(max(0, received)))
    }

    /// Reads until the other side hangs up.
    func readToEnd() {
        var chunk = [UInt8](repeating: 0, count: 4096)
        while recv(descriptor, &chunk, chunk.count, 0) > 0 {}
    }
}
