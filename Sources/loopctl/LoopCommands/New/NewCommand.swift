import Glibc
import Linux
import LoopNode

/// `loopctl new` makes a package with a loop that builds and passes its tests. A user then changes it.
enum NewCommand {
    static let name = Option(
        positional: "NAME", .packageName, help: "the name of the folder, the module and the definition, such as Orders")
    static let loop = Option(
        required: "loop", .string.named("PATH-OR-URL"),
        help: "the package Loop: a folder, or a repository such as https://example.org/loop.git", environment: .none)
    static let branch = Option(
        optional: "branch", .string.named("NAME"),
        help: "the branch of a repository; without it the releases that are compatible with this one",
        environment: .none)

    static let subcommand = Subcommand(
        command: Command(
            "new", abstract: "Make a package with a loop of your own.",
            discussion: """
                Makes the folder NAME here, with a package that builds and passes its tests: a loop that charges and ships \
                what customers order, programs for its reducer, its workers and a client, tests, and a compose file with \
                keys. Change it into what you need. A folder that is there is left alone.

                Exit codes: 0 made, 2 could not be made, 64 wrong usage.
                """,
            groups: [OptionGroup("Package", [loop, branch])], positionals: [name]),
        run: run)

    @Sendable private static func run(_ arguments: ParsedArguments, environment: [String: String]) async throws -> Int32
    {
        guard let here = FileSystem.resolved(".") else {
            throw CommandError("the working directory is gone; change to another one")
        }
        let files = try make(
            arguments[name], loop: arguments[loop], branch: arguments[branch], in: here,
            resolved: { FileSystem.resolved($0) })
        try StandardOutput.line("made \(arguments[name]) with \(files) files")
        try StandardOutput.line("next: cd \(arguments[name]) && swift test; README.md says how to run it")
        return 0
    }

    /// Makes the package in a folder.
    /// - Parameters:
    ///   - name: the package's name.
    ///   - loop: the path or URL of Loop.
    ///   - branch: the branch of a repository.
    ///   - folder: the absolute path of the folder that gets the package.
    ///   - resolved: resolves a path to an absolute one, or gives nil if nothing exists there.
    /// - Returns: the number of files.
    /// - Throws: `UsageError` or `CommandError`, and then nothing was made; `SystemError` if a file could not be written.
    static func make(
        _ name: PackageName, loop: String, branch: String?, in folder: String, resolved: (String) -> String?
    ) throws -> Int {
        guard !name.isTaken else {
            throw UsageError(
                message: "\(name) is the name of something that the package uses",
                hint: "take another, such as My\(name)")
        }
        let target = folder == "/" ? "/\(name)" : "\(folder)/\(name)"
        let source = try source(loop, branch: branch, of: target, resolved: resolved)
        let files = NewPackage(name: name, loop: source).files
        do throws(SystemError) {
            try FileSystem.makeFolder(target)
        } catch {
            guard error.code == EEXIST else { throw error }
            throw CommandError("\(target) is there already; take another name, or remove it first")
        }
        var made: Set<String> = []
        for file in files {
            let folders = file.path.split(separator: "/").dropLast()
            for depth in folders.indices {
                let path = folders[...depth].joined(separator: "/")
                if made.insert(path).inserted { try FileSystem.makeFolder("\(target)/\(path)") }
            }
            try FileSystem.write(file.text, to: "\(target)/\(file.path)")
        }
        return files.count
    }

    private static func source(
        _ loop: String, branch: String?, of target: String, resolved: (String) -> String?
    ) throws -> LoopSource {
        if LoopSource.isURL(loop) {
            guard LoopSource.canBeQuoted(loop + (branch ?? "")) else { throw unquotable(loop + (branch ?? "")) }
            return .repository(url: loop, branch: branch)
        }
        guard branch == nil else {
            throw UsageError(
                message: "--branch is of a repository, and \(loop) is a folder", hint: "leave --branch out")
        }
        let manifest = "\(loop)/Package.swift"
        guard let path = resolved(loop), FileSystem.status(of: manifest)?.kind == .file,
            String(decoding: try FileSystem.bytes(of: manifest), as: UTF8.self).contains(#"name: "Loop","#)
        else {
            throw CommandError(
                "\(loop) is not the folder of the package Loop: give --loop the one that has its Package.swift")
        }
        guard LoopSource.canBeQuoted(path + target) else { throw unquotable(path + target) }
        guard let place = LoopSource.Place(package: target, loop: path) else {
            throw CommandError(
                "\(target) would be in the folder of the package Loop, or around it; change to another one, such as \(path)/.."
            )
        }
        return .folder(place)
    }

    private static func unquotable(_ text: String) -> CommandError {
        CommandError(#"\#(text) has a character that cannot stand in a manifest: ", \, $ or a control character"#)
    }
}

extension ValueType where Value == PackageName {
    static var packageName: ValueType {
        ValueType(
            placeholder: "NAME", expected: PackageName.form, read: { PackageName($0) }, write: { $0.description })
    }
}
