import LoopTemplate

/// The name of a new package: of its folder, its module and its definition. In lower case, that of its loop and its programs.
struct PackageName: Equatable, CustomStringConvertible {
    let description: String

    /// What a name looks like.
    static let form = "a capital letter, then up to 39 letters and digits, such as Orders"

    /// Nil where the text does not have the form.
    init?(_ text: String) {
        guard let first = text.utf8.first, (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(first),
            text.utf8.count <= 40, text.utf8.allSatisfy(Self.isLetterOrDigit)
        else { return nil }
        description = text
    }

    /// The same in lower case.
    var ofPrograms: String { description.lowercased() }

    /// Whether a module and a type of this name would hide one that the package uses, or share its name with one.
    var isTaken: Bool {
        description.hasPrefix("Loop") || Self.modules.contains(description) || Self.used.contains(description)
    }

    /// The modules of the package Loop that do not begin with its name, and of the toolchain. A package that depends on Loop
    /// cannot have another module of the same name.
    static let modules: Set<String> = [
        "CBOR", "CCMarkGFM", "CCurl", "CGuardedMemory", "CGumbo", "CHTTPD", "CIDN", "CLinux", "CMemory", "CMeter",
        "CPQ", "CSQLite", "CZLib", "CZMQ", "Dispatch", "Foundation", "Glibc", "HTTPServer", "Linux", "NewLoop",
        "Observation", "PostgreSQL", "SQLite", "Swift", "Synchronization", "TestDatabase", "TestFolders", "XCTest",
        "ZLib", "ZMQ",
    ]

    /// What begins with a capital letter in the code of a new package, besides its own name.
    static let used: Set<String> = {
        var words: Set<String> = ["Any", "Protocol", "Self", "Type"]
        for file in LoopTemplate.files where file.path.hasSuffix(".swift") {
            for line in file.text.split(separator: "\n") where !line.drop(while: { $0 == " " }).hasPrefix("//") {
                let found = line.utf8.split { !isLetterOrDigit($0) }.compactMap { String($0) }
                words.formUnion(found.filter { $0.first?.isUppercase == true && !$0.hasPrefix(LoopTemplate.name) })
            }
        }
        return words
    }()

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: false
        }
    }
}
