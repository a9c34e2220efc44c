public import LoopNode

extension Ledger {
    /// The only argument: the folder of the pages.
    public static let pages = Positional(
        "FOLDER", .string.named("FOLDER"), help: "the folder of the deposits' pages, which every worker can write to")

    /// Creates a definition for a reducer from arguments that were parsed with ``pages``.
    public init(_ arguments: ParsedArguments) { self.init(folder: arguments[Self.pages]) }
}
