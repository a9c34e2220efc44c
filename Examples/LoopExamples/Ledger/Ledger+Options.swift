package import LoopNode

extension Ledger {
    /// The only argument: the folder of the pages.
    package static let pages = Option(
        positional: "FOLDER", .string.named("FOLDER"),
        help: "the folder of the deposits' pages, which every worker can write to")

    /// Creates a definition for a reducer from arguments that were parsed with ``pages``.
    package init(_ arguments: ParsedArguments) { self.init(folder: arguments[Self.pages]) }
}
