/// Options that belong together: one section of the help. A command has any number of groups, also of several authors, such as a
/// node's and a loop's own. Each author reads its options from the one result.
public struct OptionGroup: Sendable {
    /// The heading in the help, without a colon.
    public let title: String
    /// The options of the section, in the order of the help.
    public let options: [OptionDeclaration]
    /// Sets of names; at most one option of each set may be given.
    public let exclusive: [[String]]

    /// - Parameters:
    ///   - title: the group's heading in the help.
    ///   - options: the options of the group, in the order of the help.
    ///   - exclusive: sets of option names that contradict each other.
    public init(_ title: String, _ options: [any DeclaredOption], exclusive: [[String]] = []) {
        self.title = title
        self.options = options.map(\.declaration)
        self.exclusive = exclusive
    }
}
