public import LoopOptions

extension Ledger {
    /// The one argument: where the pages go.
    public static let pages = Positional(
        "FOLDER", .string.named("FOLDER"), help: "the folder of the deposits' pages, which every worker can write to")

    /// A definition for a reducer, of arguments that were parsed with ``pages``.
    public init(_ arguments: ParsedArguments) { self.init(folder: arguments[Self.pages]) }
}
