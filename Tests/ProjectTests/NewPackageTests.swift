import Foundation
import Testing

/// Packages that depend on this one: the manifest in the README, and the package that `loopctl new` makes.
@Suite struct `The manifest of a package that depends on Loop` {
    private static func products(in manifest: String) -> Set<String> {
        Set(manifest.matches(of: /\.product\(name: "([^"]+)", package: "Loop"\)/).map { String($0.output.1) })
    }

    /// What Package.swift offers to others.
    private static func offered() throws -> Set<String> {
        try Set(Manifest.ofLoop.get().products.map(\.name))
    }

    private static func readme() throws -> String {
        let blocks = try Repository.text("README.md").components(separatedBy: "```swift\n").dropFirst()
        let manifest = try #require(blocks.first { $0.contains("import PackageDescription") })
        return manifest.components(separatedBy: "```")[0]
    }

    @Test func `names products that there are`() throws {
        let offered = try Self.offered()
        #expect(offered.count > 10)
        for manifest in [try Self.readme(), try Repository.text("Examples/NewLoop/Package.swift")] {
            let used = Self.products(in: manifest)
            #expect(!used.isEmpty && used.isSubset(of: offered), "\(used.subtracting(offered))")
        }
    }

    @Test func `is understood by the package manager`() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("loop-manifest-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        for manifest in [try Self.readme(), try Repository.text("Examples/NewLoop/Package.swift")] {
            try Data(manifest.utf8).write(to: folder.appendingPathComponent("Package.swift"))
            let text = String(decoding: try Manifest.dump(folder), as: UTF8.self)
            #expect(text.contains("-reducer") && text.contains("-worker"))
        }
    }

    @Test func `of the README is followed by a table of products that there are`() throws {
        let table = try #require(try Repository.text("README.md").components(separatedBy: "| product | for |\n").last)
        let rows = table.split(separator: "\n").prefix { $0.hasPrefix("|") }.dropFirst()
        let names = rows.flatMap { row in
            row.split(separator: "|")[0].matches(of: /`([^`]+)`/).map { String($0.output.1) }
        }
        #expect(names.count >= 8)
        #expect(try Set(names).isSubset(of: Self.offered()))
    }

    /// `loopctl new` makes the package of what is listed here.
    @Test func `lists all files of the package that loopctl new makes`() throws {
        let list = try #require(try Repository.text("Package.swift").firstMatch(of: /\nlet newPackage = \[([^\]]*)\]/))
        let listed = Set(list.output.1.matches(of: /"([^"]+)"/).map { String($0.output.1) })
        let files = Repository.files.filter { $0.hasPrefix("Examples/NewLoop/") && !$0.contains("/Template/") }
        #expect(listed == Set(files.map { String($0.dropFirst("Examples/NewLoop/".count)) }))
    }

    @Test func `has every module of this project among the names that no new package may have`() throws {
        let code = try Repository.text("Sources/loopctl/LoopCommands/New/PackageName.swift")
        let names = try Manifest.ofLoop.get().targets.map(\.name).filter { $0.first?.isUppercase == true }
        for name in names where !name.hasPrefix("Loop") && !name.hasSuffix("Tests") {
            #expect(code.contains("\"\(name)\""), "\(name)")
        }
        #expect(names.count > 30)
    }
}
