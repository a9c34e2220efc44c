import Linux
import LoopOptions

/// The words of a command line after the program's name.
package enum ProgramArguments {
    /// Those of this process.
    /// - Throws: `UsageError` if one is no UTF-8.
    package static var current: [String] {
        get throws(UsageError) { try words(System.commandLine.dropFirst()) }
    }

    /// A word that is no UTF-8 is refused, because two of them could become one text.
    static func words(_ arguments: some Sequence<[UInt8]>) throws(UsageError) -> [String] {
        var words: [String] = []
        for (index, bytes) in arguments.enumerated() {
            guard let word = String(validating: bytes, as: UTF8.self) else {
                throw UsageError(
                    message: "argument \(index + 1), '\(String(decoding: bytes, as: UTF8.self))', is no text in UTF-8",
                    hint: "names of files must be UTF-8 too")
            }
            words.append(word)
        }
        return words
    }
}
