import Glibc

/// Reading a whole file, without Foundation.
enum TextFile {
    struct Failure: Error {
        var path: String
        var code: Int32
    }

    static func read(_ path: String) throws -> String {
        guard let file = fopen(path, "rb") else { throw Failure(path: path, code: errno) }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = fread(&buffer, 1, buffer.count, file)
            guard count > 0 else { break }
            bytes += buffer[..<count]
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
