package import Linux

extension StandardOutput {
    /// Writes one whole line for people, with control characters escaped. Earlier lines on standard error are written first if
    /// they have a reader.
    package static func line(_ text: String) throws(OutputError) {
        StandardError.flush(within: .milliseconds(200))
        try write(PrintableText.lines(text) + "\n")
    }

    /// Writes a line of JSON for programs, with control characters escaped as JSON does.
    package static func json(_ document: String) throws(OutputError) {
        StandardError.flush(within: .milliseconds(200))
        try write(PrintableText.json(document) + "\n")
    }
}

/// The end of a program that could not do its job.
package enum ProgramFailure {
    /// Writes the error to standard error, unless the reader of the output has closed its end.
    /// - Returns: the exit code: 64 for wrong usage, 141 if the reader of the output has closed its end, else 2.
    package static func code(of error: any Error, in program: String) -> Int32 {
        if let output = error as? OutputError, output.isReaderGone { return output.exitCode }
        StandardError.line("\(program): \(error)")
        return error is UsageError ? 64 : 2
    }
}
