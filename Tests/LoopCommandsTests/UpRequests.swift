import LoopNode

@testable import LoopCommands

/// What a command line asks of `up`.
func upRequest(_ words: [String], _ environment: [String: String] = [:]) throws -> UpRequest {
    guard case .arguments(let arguments) = try ControlProgram.command.parse(words, environment: environment) else {
        throw UsageError(message: "asks for a text")
    }
    return try UpRequest(arguments)
}
