import Linux
import LoopOptions

/// The words of a command line after the program's name.
package enum ProgramArguments {
    /// Those of this process.
    /// - Throws: `UsageError` if one is no UTF-8.
    package static var current: [String] {
        get throws(UsageError) { try words(System.commandLine.dropFirst()) }
    }

    /// Runs a program with the words and the environment of this process.
    /// - Parameters:
    ///   - name: the name of the program, for an error.
    ///   - body: runs it, and returns the code to exit with.
    /// - Returns: that code, or the one of wrong usage.
    package static func run(
        _ name: String, _ body: ([String], [String: String]) async -> Int32
    ) async -> Int32 {
        StandardOutput.holdClosed()
        do throws(UsageError) {
            return await body(try current, ProcessEnvironment.current)
        } catch {
            return ProgramFailure.code(of: error, in: name)
        }
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
