import Foundation
import LoopNode
import LoopTemplate
import TestFolders
import Testing

@testable import LoopCommands

@Suite struct `A new package` {
    private static func name(_ text: String) throws -> PackageName { try #require(PackageName(text)) }

    private static func package(_ name: String, _ loop: LoopSource) throws -> [String: String] {
        let files = NewPackage(name: try Self.name(name), loop: loop).files
        return Dictionary(uniqueKeysWithValues: files.map { ($0.path, $0.text) })
    }

    private static func folder(_ package: String, _ loop: String) throws -> LoopSource {
        .folder(try #require(LoopSource.Place(package: package, loop: loop)))
    }

    @Test func `is that of the template, under its own name`() throws {
        let files = try Self.package("Shop", Self.folder("/a/Shop", "/a/loop"))
        let renamed = LoopTemplate.files.map {
            $0.path.replacing("NewLoop", with: "Shop").replacing("newloop", with: "shop")
        }
        #expect(Set(files.keys) == Set(renamed + [".gitignore"]))
        for (path, text) in files {
            #expect(!(path + text).contains("NewLoop") && !(path + text).contains("newloop"), "\(path)")
            #expect(!text.isEmpty && text.hasSuffix("\n"), "\(path)")
        }
        let definition = try #require(files["Sources/Shop/Shop.swift"])
        let template = try #require(LoopTemplate.files.first { $0.path == "Sources/NewLoop/NewLoop.swift" })
        #expect(definition.contains("public struct Shop: LoopDefinition {"))
        #expect(definition.contains(#"public static let name = "shop""#))
        #expect(
            definition.replacing("Shop", with: "NewLoop").replacing("\"shop\"", with: "\"newloop\"") == template.text)
    }

    @Test func `depends on a folder by the path from its own`() throws {
        let files = try Self.package("Shop", Self.folder("/a/b/Shop", "/a/src/loop"))
        #expect(files["Package.swift"]?.contains(#".package(name: "Loop", path: "../../src/loop")"#) == true)
        #expect(files["Package.swift"]?.contains(#".product(name: "LoopNode", package: "Loop")"#) == true)
        #expect(
            files["Dockerfile"]?.contains(
                """
                COPY ["src/loop/Package.swift", "src/loop/Package.swift"]
                COPY ["src/loop/Sources", "src/loop/Sources"]
                COPY ["src/loop/Examples", "src/loop/Examples"]
                COPY ["b/Shop/Package.swift", "b/Shop/Package.swift"]
                COPY ["b/Shop/Sources", "b/Shop/Sources"]
                COPY ["b/Shop/Tests", "b/Shop/Tests"]
                WORKDIR "/build/b/Shop"
                """) == true)
        let compose = try #require(files["docker-compose.yml"])
        #expect(compose.contains("context: \"../..\"\n    dockerfile: \"b/Shop/Dockerfile\"\n  image: shop\n"))
        #expect(compose.contains(#"["shop-reducer", "--bind", "tcp://0.0.0.0:7710", "--keys", "/keys/reducer","#))
    }

    @Test func `depends on a repository by its releases, or by a branch`() throws {
        let url = "https://example.org/some/loop.git"
        let released = try Self.package("Shop", .repository(url: url, branch: nil))
        let version = LoopVersion.current
        #expect(
            released["Package.swift"]?.contains(#".package(url: "\#(url)", .upToNextMinor(from: "\#(version)"))"#)
                == true)
        #expect(released["Package.swift"]?.contains(#".product(name: "LoopNode", package: "loop")"#) == true)
        #expect(released["Package.swift"]?.contains("..") == false)
        let branch = try Self.package("Shop", .repository(url: url, branch: "next"))
        #expect(branch["Package.swift"]?.contains(#".package(url: "\#(url)", branch: "next")"#) == true)
        for files in [released, branch] {
            #expect(
                files["Dockerfile"]?.contains(
                    """
                    COPY ["Package.swift", "Package.swift"]
                    COPY ["Sources", "Sources"]
                    COPY ["Tests", "Tests"]
                    WORKDIR "/build"
                    """) == true)
            #expect(files["docker-compose.yml"]?.contains("context: \".\"\n    dockerfile: \"Dockerfile\"\n") == true)
        }
    }
}

@Suite struct `loopctl new` {
    private let root = TestFolder()

    private func make(_ name: String, loop: String, branch: String? = nil) throws -> Int {
        try NewCommand.make(
            try #require(PackageName(name)), loop: loop, branch: branch, in: root.path,
            resolved: { [root] in $0 == "\(root.path)/loop" ? $0 : nil })
    }

    private func error(_ body: () throws -> Void) -> String? {
        do {
            try body()
            return nil
        } catch {
            return "\(error)"
        }
    }

    @Test func `writes the files of a package, and leaves a folder alone that is there`() throws {
        root.write("loop/Package.swift", "let package = Package(name: \"Loop\", products: [])")
        let loop = "\(root.path)/loop"
        #expect(try make("Shop", loop: loop) == LoopTemplate.files.count + 1)
        let place = try #require(LoopSource.Place(package: "\(root.path)/Shop", loop: loop))
        for file in NewPackage(name: try #require(PackageName("Shop")), loop: .folder(place)).files {
            let path = "\(root.path)/Shop/\(file.path)"
            #expect(try String(contentsOfFile: path, encoding: .utf8) == file.text, "\(file.path)")
        }
        root.write("Shop/README.md", "mine")
        #expect(
            error { _ = try make("Shop", loop: loop) }
                == "\(root.path)/Shop is there already; take another name, or remove it first")
        #expect(try String(contentsOfFile: "\(root.path)/Shop/README.md", encoding: .utf8) == "mine")
    }

    @Test func `says what is wrong with a place of Loop, and makes nothing`() throws {
        root.write("other/Package.swift", "let package = Package(name: \"Other\", products: [])")
        for loop in ["\(root.path)/other", "\(root.path)/nothing"] {
            #expect(
                error { _ = try make("Shop", loop: loop) }
                    == "\(loop) is not the folder of the package Loop: give --loop the one that has its Package.swift")
        }
        let quoted = error { _ = try make("Shop", loop: "https://x.org/a\"b") }
        #expect(quoted?.contains("cannot stand in a manifest") == true)
        #expect(
            error { _ = try make("Shop", loop: "../loop", branch: "main") }
                == "--branch is of a repository, and ../loop is a folder; leave --branch out")
        #expect(
            error { _ = try make("Order", loop: "https://x.org/loop") }
                == "Order is the name of something that the package uses; take another, such as MyOrder")
        #expect(try make("Shop", loop: "https://x.org/loop") > 0)
    }
}
