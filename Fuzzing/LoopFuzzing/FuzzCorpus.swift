import Linux

/// The inputs of one target that are kept in the repository, a line for each: a name, a semicolon, the bytes in hexadecimal
/// digits. Lines that begin with # say something to people.
package enum FuzzCorpus {
    /// - Throws: `FuzzFinding` for a line that is not of this form; `SystemError` if the file cannot be read.
    package static func seeds(in path: String) throws -> [FuzzSeed] {
        let text = String(decoding: try FileSystem.bytes(of: path), as: UTF8.self)
        return try text.split(separator: "\n").filter { !$0.hasPrefix("#") }.map { line in
            let parts = line.split(separator: ";", omittingEmptySubsequences: false)
            guard parts.count == 2, let bytes = bytes(parts[1].drop { $0 == " " }) else {
                throw FuzzFinding(
                    "a line of the corpus is \"name; hexadecimal digits\", and not \"\(line.prefix(80))\"")
            }
            return FuzzSeed(String(parts[0]), bytes)
        }
    }

    private static func bytes(_ digits: Substring) -> [UInt8]? {
        guard digits.utf8.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        var high: UInt8?
        for digit in digits {
            guard let value = digit.hexDigitValue.map(UInt8.init) else { return nil }
            if let first = high {
                bytes.append(first << 4 | value)
                high = nil
            } else {
                high = value
            }
        }
        return bytes
    }
}
