internal import LoopNode
internal import LoopView

/// A changed part of a page, as it is now.
struct Patch: Equatable, Sendable {
    /// The id of the element in the document.
    var id: String
    var html: String

    init(_ element: Element, _ id: ElementID) {
        self.id = HTML.documentID(id)
        html = HTML.render(element, id)
    }

    /// The smallest parts that turn one tree into another.
    static func patches(from old: ViewTree, to new: ViewTree) -> [Patch] {
        var patches: [Patch] = []
        collect(old.root, new.root, .root, into: &patches)
        return patches
    }

    private static func collect(_ old: Element, _ new: Element, _ id: ElementID, into patches: inout [Patch]) {
        guard new.isContainer, old.showsTheSame(as: new), old.children.map(\.key) == new.children.map(\.key) else {
            if old != new { patches.append(Patch(new, id)) }
            return
        }
        for (before, after) in zip(old.children, new.children) {
            collect(before, after, id.child(after.key), into: &patches)
        }
    }
}

/// The events of a page's event stream (the WHATWG's "server-sent events").
enum PageEvent {
    /// The changed parts, and the revision that they lead to.
    static func parts(_ patches: [Patch], revision: String) -> String {
        let parts = patches.map { "[\(JSONText.quoted($0.id)),\(JSONText.quoted($0.html))]" }
        return "id: \(revision)\ndata: {\"parts\":[\(parts.joined(separator: ","))]}\n\n"
    }

    /// Makes the browser reload the page.
    static var reload: String { "data: {\"reload\":true}\n\n" }

    /// A sign of life.
    static var beat: String { ": \n\n" }
}
