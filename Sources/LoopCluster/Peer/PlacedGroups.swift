/// The groups in which a loop places effects, for comparison with those that a worker names.
package struct PlacedGroups: Sendable {
    /// The groups of the loop's workers, in order.
    package let all: [String]

    package init(placements: some Sequence<String>) {
        all = Set(placements).subtracting([localGroup, reducerGroup]).sorted()
    }

    /// What is wrong with the groups that a worker names, and the remedy, or nil if each of them has a feedback.
    package func objection(to groups: [String]) -> String? {
        if all.isEmpty { return "the loop places no effects on workers; give a feedback .on(.workers)" }
        let others = groups.filter { !all.contains($0) }
        if groups.isEmpty { return "it names no group; the loop has \(Self.list(all))" }
        guard !others.isEmpty else { return nil }
        return "no feedback is in \(Self.list(others)); the loop has \(Self.list(all)) (--group)"
    }

    private static func list(_ groups: [String]) -> String {
        let names = groups.prefix(5).map { "\"\($0)\"" }.joined(separator: ", ")
        let more = groups.count > 5 ? " and \(groups.count - 5) more" : ""
        return "the \(groups.count == 1 ? "group" : "groups") \(names)\(more)"
    }
}
