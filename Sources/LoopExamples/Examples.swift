public import LoopCore
public import LoopOptions

/// The loops that this project brings.
public enum Examples {
    /// One of them: how it is called and how it is made.
    public struct Entry: Sendable {
        /// The loop's name, as `loop-reducer` and `loop-effect` take it.
        public let name: String
        /// One sentence.
        public let abstract: String
        /// What the definition can be asked for.
        public let options: [OptionGroup]
        /// Its arguments.
        public let positionals: [any DeclaredPositional]
        /// The definition for a reducer, of arguments parsed with `options` and `positionals`.
        public let definition: @Sendable (ParsedArguments) -> any LoopDefinition
        /// The definition for a worker, which has no arguments.
        public let workerDefinition: @Sendable () -> any LoopDefinition
    }

    /// All of them, in the order of the help.
    public static let all = [
        Entry(
            name: LinkCheck.name, abstract: LinkCheck.abstract, options: LinkCheck.options,
            positionals: [LinkCheck.site], definition: { LinkCheck($0) }, workerDefinition: { LinkCheck() })
    ]
}
