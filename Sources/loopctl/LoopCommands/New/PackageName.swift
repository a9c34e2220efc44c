import LoopTemplate

/// The name of a new package: of its folder, module and definition, and in lower case of its loop and programs.
struct PackageName: Equatable, CustomStringConvertible {
    let description: String

    /// The form of a name, for people.
    static let form = "a capital letter, then up to 39 letters and digits, such as Orders"

    /// Creates a name, or nil if the text does not have the form.
    init?(_ text: String) {
        guard let first = text.utf8.first, (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(first),
            text.utf8.count <= 40, text.utf8.allSatisfy(Self.isLetterOrDigit)
        else { return nil }
        description = text
    }

    /// The name in lower case.
    var ofPrograms: String { description.lowercased() }

    /// Whether a module or type of this name would hide one that the package uses, or would have its name.
    var isTaken: Bool {
        description.hasPrefix("Loop") || Self.modules.contains(description) || Self.used.contains(description)
    }

    /// The modules of the toolchain, and those of the package Loop that do not begin with its name. A package that depends on Loop
    /// cannot have another module of such a name.
    static let modules: Set<String> = [
        "CBOR", "CCMarkGFM", "CCurl", "CGumbo", "CHTTPD", "CIDN", "CLinux", "CMemory", "CMeter",
        "CPQ", "CSQLite", "CZLib", "CZMQ", "Dispatch", "Foundation", "Glibc", "Linux", "NewLoop", "Observation",
        "Swift", "Synchronization", "TestClocks", "TestDatabase", "TestFolders", "XCTest", "ZMQ",
    ]

    /// All words with a capital first letter in the code of a new package, except for its own name.
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
