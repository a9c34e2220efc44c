import Glibc

/// The data of the examples' server.
enum RepositoryData {
    static let folder = "\(RepositoryText.root)/Examples/Data"
}

/// Files of the repository.
enum RepositoryText {
    static let root = #filePath.components(upTo: "Tests").joined(separator: "/")

    /// A file's text; empty where it cannot be read.
    static func file(_ path: String) -> String { contents("\(root)/\(path)") }

    /// The text of any file; empty where it cannot be read.
    static func contents(_ path: String) -> String {
        guard let file = fopen(path, "re") else { return "" }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while case let count = fread(&buffer, 1, buffer.count, file), count > 0 { bytes += buffer[..<count] }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension String {
    /// The parts of a path before the last folder of this name.
    fileprivate func components(upTo folder: Substring) -> ArraySlice<Substring> {
        let parts = split(separator: "/", omittingEmptySubsequences: false)
        return parts[..<(parts.lastIndex(of: folder) ?? parts.endIndex)]
    }
}
