internal import Glibc
internal import Linux
internal import LoopNode

/// The program `loop-example`: runs one of the gallery's examples.
package enum GalleryProgram {
    /// Runs a command line, and returns the exit code.
    /// - Parameters:
    ///   - arguments: the words after the program's name.
    ///   - environment: all variables.
    package static func run(_ arguments: [String], environment: [String: String]) async -> Int32 {
        do {
            switch try GalleryOptions.command.parse(arguments, environment: environment) {
            case .text(let text):
                try StandardOutput.line(text)
                return 0
            case .arguments(let parsed):
                guard let name = parsed[GalleryOptions.name] else {
                    for example in Gallery.all {
                        try StandardOutput.line("\(example.name.padded(to: 14))\(example.abstract)")
                    }
                    return 0
                }
                return try await ExampleRun(example(name), parsed).run()
            }
        } catch {
            return ProgramFailure.code(of: error, in: "loop-example")
        }
    }

    /// Runs this process's own command line, and exits.
    package static func main() async -> Never {
        let code = await ProgramArguments.run("loop-example") { await run($0, environment: $1) }
        // `StandardOutput` is not used, because nothing is printed, and flushing all files would wait for the reader of the input.
        exit(code)
    }

    private static func example(_ name: String) throws(UsageError) -> GalleryExample {
        if let example = Gallery.all.first(where: { $0.name == name }) { return example }
        throw UsageError(
            message: "there is no example '\(name)'",
            hint: "there are: \(Gallery.all.map(\.name).joined(separator: ", "))")
    }
}

extension String {
    fileprivate func padded(to width: Int) -> String { self + String(repeating: " ", count: max(1, width - count)) }
}
