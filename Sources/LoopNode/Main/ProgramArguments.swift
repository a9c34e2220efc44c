import Linux

/// The words of a command line after the program's name, and the environment variables for options.
package enum ProgramArguments {
    /// The words of this process.
    /// - Throws: `UsageError` if one is not UTF-8.
    package static var current: [String] {
        get throws(UsageError) { try words(System.commandLine.dropFirst()) }
    }

    /// The environment of this process.
    /// - Throws: `UsageError` if a variable of Loop is not UTF-8.
    package static var environment: [String: String] {
        get throws(UsageError) {
            try check(System.environment)
            return ProcessEnvironment.current
        }
    }

    /// Runs a program with the words and the environment of this process.
    /// - Parameters:
    ///   - name: the name of the program, for an error.
    ///   - body: runs it, and returns the exit code.
    /// - Returns: that code, or the one of wrong usage.
    package static func run(
        _ name: String, _ body: ([String], [String: String]) async -> Int32
    ) async -> Int32 {
        StandardOutput.holdClosed()
        do throws(UsageError) {
            return await body(try current, try environment)
        } catch {
            return ProgramFailure.code(of: error, in: name)
        }
    }

    static func words(_ arguments: some Sequence<[UInt8]>) throws(UsageError) -> [String] {
        var words: [String] = []
        for (index, bytes) in arguments.enumerated() {
            words.append(try text(bytes, "argument \(index + 1), '\(String(decoding: bytes, as: UTF8.self))',"))
        }
        return words
    }

    /// - Parameter variables: each as `name=value`. Errors do not show values, because these may be secrets.
    static func check(_ variables: [[UInt8]]) throws(UsageError) {
        for bytes in variables where bytes.starts(with: "LOOP_".utf8) {
            let name = bytes.prefix { $0 != UInt8(ascii: "=") }
            _ = try text(bytes, "the environment variable \(String(decoding: name, as: UTF8.self))")
        }
    }

    /// Refuses bytes that are not UTF-8, because two different ones could become the same text.
    private static func text(_ bytes: [UInt8], _ what: String) throws(UsageError) -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw UsageError(message: "\(what) is no text in UTF-8", hint: "names of files must be UTF-8 too")
        }
        return text
    }
}
