import Glibc
import LoopCollections
import LoopNode

/// The executables that were built next to this test bundle.
enum Executables {
    static let folder: String = {
        let bundle = CommandLine.arguments.first { $0.hasSuffix(".xctest") || $0.contains(".xctest/") }
        let path = bundle ?? CommandLine.arguments[0]
        let upTo = path.range(of: "/", searchingBackwardsFrom: ".xctest") ?? path.endIndex
        return String(path[..<upTo])
    }()

    static func path(_ name: String) -> String { "\(folder)/\(name)" }
}

extension String {
    /// The last occurrence of `text` before the first one of `mark`.
    fileprivate func range(of text: Character, searchingBackwardsFrom mark: String) -> Index? {
        var end = endIndex
        var index = startIndex
        while index < endIndex {
            if self[index...].hasPrefix(mark) {
                end = index
                break
            }
            index = self.index(after: index)
        }
        return self[..<end].lastIndex(of: text)
    }
}

/// Three free ports in a row on loopback, as a reducer needs them.
func freeAddress() -> ReducerAddress {
    while true {
        let base = firstPorts.withLock { first in
            first = first + 3 < portsEnd ? first + 3 : portsBegin
            return first
        }
        if (0..<3).allSatisfy({ isFree(base + $0) }) { return ReducerAddress(stringLiteral: "tcp://127.0.0.1:\(base)") }
    }
}

// Below the ports that the system gives to connections (32768), one of which could take a place between the look and the use.
private let (portsBegin, portsEnd) = (UInt16(20_000), UInt16(32_000))

/// The last one that was given: no other test of this process gets it too.
private let firstPorts = Locked(portsBegin + UInt16(SystemRandom.uint64() % 3_990) * 3)

private func isFree(_ port: UInt16) -> Bool {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    return withLoopback(port) { bind(descriptor, $0, $1) } == 0
}

/// Calls the body with the address of a port on loopback, as the system's calls take it.
func withLoopback(_ port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    return withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
    }
}

/// A file's text, or nil.
func contents(of path: String) -> String? {
    guard let file = fopen(path, "r") else { return nil }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
        let count = fread(&buffer, 1, buffer.count, file)
        if count == 0 { break }
        bytes += buffer[..<count]
    }
    return String(decoding: bytes, as: UTF8.self)
}
