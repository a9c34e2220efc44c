import Foundation

/// Package.swift as the package manager understands it.
struct Manifest: Decodable {
    struct Product: Decodable {
        var name: String
    }

    struct Target: Decodable {
        struct Dependency: Decodable {
            var byName: [String?]
        }

        struct Setting: Decodable {
            var kind: [String: [String: String]]
        }

        var name: String
        var type: String
        var path: String?
        var dependencies: [Dependency]
        var settings: [Setting]

        var dependencyNames: Set<String> { Set(dependencies.compactMap { $0.byName.first ?? nil }) }
    }

    var products: [Product]
    var targets: [Target]

    /// The manifest of this project.
    static let ofLoop: Result<Manifest, any Error> = Result {
        try JSONDecoder().decode(Manifest.self, from: dump(Repository.root))
    }

    /// The manifest in a folder, as JSON.
    static func dump(_ folder: URL) throws -> Data {
        let scratch = FileManager.default.temporaryDirectory.appendingPathComponent("loop-manifest-\(UUID())")
        defer { try? FileManager.default.removeItem(at: scratch) }
        let swift = Process()
        swift.executableURL = URL(fileURLWithPath: "/bin/sh")
        // A folder of its own for what the package manager writes, because it locks the folder of the tests that run.
        swift.arguments = [
            "-c", #"exec "$("$0")" package --package-path "$1" --scratch-path "$2" dump-package"#,
            Repository.root.appendingPathComponent("scripts/find-swift").path, folder.path, scratch.path,
        ]
        let output = Pipe()
        swift.standardOutput = output
        try swift.run()
        let bytes = output.fileHandleForReading.readDataToEndOfFile()
        swift.waitUntilExit()
        guard swift.terminationStatus == 0 else {
            throw ManifestError(description: "swift package dump-package ended with \(swift.terminationStatus)")
        }
        return bytes
    }
}

struct ManifestError: Error, CustomStringConvertible {
    var description: String
}
