import Testing

/// The compiler demands `unsafe` at each use of unsafe code. The modules that may say it are named here.
@Suite struct `Unsafe code` {
    /// Modules that may use unsafe code: each use is marked, and its file begins with the reason.
    private static let marked: [String: String] = [
        "CBOR": "boxes used again, and documents that are read where they lie",
        "LoopCollections": "tables that own their memory, and locks of the system, which lie at fixed addresses",
        "LoopPostgres": "handles and results of libpq",
        "LoopJournal": "handles and memory of SQLite, and checksums by zlib",
        "ZMQ": "handles and frames of libzmq",
        "Linux": "calls of the system",
        "LoopFetch":
            "memory of libcurl, libcmark-gfm, libidn2, zlib and iconv, and pages that are scanned where they lie",
        "LoopNode": "the memory of the crash note; daemons, connections and answers of libmicrohttpd",
        "LoopBudgets": "the meter",
    ]
    private static let modules: [String: [String]] = Dictionary(grouping: Repository.sources) { file in
        String(file.split(separator: "/")[1])
    }

    @Test func `is checked in every module`() throws {
        let targets = try Manifest.ofLoop.get().targets.filter {
            $0.path?.hasSuffix(".h") != true && !$0.settings.isEmpty
        }
        #expect(targets.count > 40)
        // Tests and fuzzers are no part of a program.
        for target in targets where !target.settings.contains(where: { $0.kind.keys.contains("strictMemorySafety") }) {
            let path = try #require(target.path)
            #expect(path.contains("Tests/") || path.hasPrefix("Fuzzing/"), "\(target.name)")
        }
    }

    @Test func `stands nowhere else`() throws {
        #expect(Self.modules.count > 20)
        for (module, files) in Self.modules where Self.marked[module] == nil {
            for file in files {
                #expect(try Self.uses(in: Repository.text(file)).isEmpty, "\(file)")
            }
        }
    }

    @Test(arguments: marked.keys.sorted()) func `has its reason in each file`(module: String) throws {
        let using = try #require(Self.modules[module]).filter { try !Self.uses(in: Repository.text($0)).isEmpty }
        #expect(!using.isEmpty, "\(module) needs no permission any more")
        for file in using {
            #expect(try Repository.text(file).contains("// Unsafe: "), "\(file)")
        }
    }

    /// The lines of code that use something unsafe.
    private static func uses(in text: String) throws -> [String] { try use.get().matches(in: text) }

    /// A line with a word of unsafe code before any comment.
    private static let use = Result { try TextPattern(#"^(?:(?!//).)*?(?:\bunsafe\b|@safe\b|Unsafe\w*Pointer).*$"#) }
}
