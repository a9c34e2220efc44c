import Foundation

/// The files of the project, as a reader of the repository sees them.
enum Repository {
    /// Where Package.swift is.
    static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// Paths from the root on, sorted: what git tracks and what it would track, else whatever is there but was not built.
    static let files: [String] = tracked() ?? walked()

    static func text(_ path: String) throws -> String {
        String(decoding: try Data(contentsOf: root.appendingPathComponent(path)), as: UTF8.self)
    }

    /// The files below a folder with one of these suffixes.
    static func files(below folder: String, suffix: String) -> [String] {
        files.filter { $0.hasPrefix(folder + "/") && $0.hasSuffix(suffix) }
    }

    /// The Swift files that are shipped or run: the product, the examples and the tools.
    static var sources: [String] {
        ["Sources", "Examples", "Tools"].flatMap { files(below: $0, suffix: ".swift") }
    }

    /// All Swift files: the sources, and those that test, measure and fuzz them.
    static var swiftFiles: [String] { files.filter { $0.hasSuffix(".swift") } }

    static func exists(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: root.appendingPathComponent(path).path)
    }

    private static func tracked() -> [String]? {
        let git = Process()
        git.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        git.arguments = ["git", "-C", root.path, "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        let output = Pipe()
        git.standardOutput = output
        git.standardError = FileHandle.nullDevice
        guard (try? git.run()) != nil else { return nil }
        let bytes = output.fileHandleForReading.readDataToEndOfFile()
        git.waitUntilExit()
        guard git.terminationStatus == 0 else { return nil }
        // What was removed but not yet committed is tracked still.
        return bytes.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }.filter(exists).sorted()
    }

    private static func walked() -> [String] {
        let all = FileManager.default.enumerator(atPath: root.path)?.compactMap { $0 as? String } ?? []
        return all.filter { !$0.split(separator: "/").contains { $0 == ".build" || $0 == ".git" } }.sorted()
    }
}
