import CBOR
import Foundation
import Testing

/// The vector files next to the tests.
enum CBORVectors {
    struct Example: CustomTestStringConvertible {
        var bytes: [UInt8]
        var canonical: String
        var diagnostic: String
        var testDescription: String { diagnostic }
    }

    /// The lines of a file that are neither empty nor comments.
    static func lines(_ name: String) throws -> [String] {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
        return try String(contentsOf: folder.appending(path: "Vectors/\(name)"), encoding: .utf8)
            .split(separator: "\n").map(String.init).filter { !$0.hasPrefix("#") }
    }

    /// - Parameter name: a file whose lines are bytes, whether they are the deterministic ones, and their notation.
    static func examples(_ name: String = "cbor-rfc8949.txt") throws -> [Example] {
        try lines(name).map { line in
            let fields = line.split(separator: "|", maxSplits: 2).map { $0.trimmingSpace() }
            return Example(bytes: hex(fields[0]), canonical: fields[1], diagnostic: fields[2])
        }
    }

    static func malformed() throws -> [[UInt8]] { try lines("cbor-rfc8949-malformed.txt").map { hex($0) } }
}

/// Bytes from hexadecimal digits.
func hex(_ text: String) -> [UInt8] {
    let digits = text.compactMap(\.hexDigitValue)
    return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
}

extension Substring {
    func trimmingSpace() -> String {
        var text = self
        while text.first == " " { text.removeFirst() }
        while text.last == " " { text.removeLast() }
        return String(text)
    }
}
