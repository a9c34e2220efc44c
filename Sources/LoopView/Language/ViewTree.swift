internal import LoopCore

/// Everything that a view shows at one moment, as a value.
///
/// Trees are equal if they show the same. A renderer shows a tree and reports the user's actions as `ViewAction`s, which
/// the newest tree performs.
///
/// ```swift
/// let tree = ViewTree(CounterView(context: Context(state: Counter(count: 3)) { events.append($0) }))
/// #expect(tree.plainText() == "3 so far\n[ One more ]")
/// tree.perform(.press(try #require(tree.button("One more"))))
/// ```
public struct ViewTree: Equatable, Sendable {
    /// A column that contains everything.
    package let root: Element

    /// Makes the elements of a view now.
    public init(_ view: some View) {
        var root = Element(.column, children: view.body)
        Self.settle(&root)
        self.root = root
    }

    /// A tree that shows nothing.
    package static var empty: ViewTree { ViewTree(Element(.group)) }

    /// Dissolves groups, and makes the names of siblings differ.
    private static func settle(_ element: inout Element) {
        if element.children.contains(where: { $0.kind == .group }) {
            var children: [Element] = []
            for child in element.children { dissolve(child, into: &children) }
            element.children = children
        }
        var taken: Set<String> = []
        for place in element.children.indices {
            let key = element.children[place].key
            var name = key
            var count = 1
            while !taken.insert(name).inserted {
                count += 1
                name = "\(key)~\(count)"
            }
            element.children[place].key = name
            settle(&element.children[place])
        }
    }

    private static func dissolve(_ element: Element, into all: inout [Element]) {
        guard element.kind == .group else { return all.append(element) }
        for var child in element.children {
            child.key = child.key.isEmpty ? element.key : "\(element.key).\(child.key)"
            child.hasID = child.hasID || element.hasID
            if element.isDisabled { child.disable() }
            dissolve(child, into: &all)
        }
    }

    /// The element with this name.
    package func element(_ id: ElementID) -> Element? {
        var element = root
        for key in id.path.split(separator: "/", omittingEmptySubsequences: false).dropFirst() {
            guard let child = element.children.first(where: { $0.key == key }) else { return nil }
            element = child
        }
        return element
    }

    /// Every element with its name, from top to bottom, each before its children.
    package var elements: [(id: ElementID, element: Element)] {
        var all: [(id: ElementID, element: Element)] = []
        Self.collect(root, .root, into: &all)
        return all
    }

    private static func collect(
        _ element: Element, _ id: ElementID, into all: inout [(id: ElementID, element: Element)]
    ) {
        all.append((id, element))
        for child in element.children { collect(child, id.child(child.key), into: &all) }
    }
}

/// Names an element of a tree by the names of its containers and its own. The name stays the same in the next tree if the element
/// has the same position in the code, or the same `id`.
public struct ElementID: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// Letters, digits and `#%-./_~`, so that it can be used in an attribute.
    package let path: String

    /// Takes an id as a client sent it. Only a tree can say whether it names an element.
    package init(path: String) { self.path = path }

    package static let root = ElementID(path: "")

    package func child(_ key: String) -> ElementID { ElementID(path: "\(path)/\(key)") }

    /// Orders by path, as text: a container comes before what it contains.
    public static func < (a: ElementID, b: ElementID) -> Bool { a.path < b.path }

    /// The path.
    public var description: String { path }

    /// The name with every character that has a meaning in a path written as `%XX`.
    static func escaped(_ name: String) -> String {
        PercentEncoding.encode(name.utf8) {
            PercentEncoding.isUnreserved($0) && $0 != UInt8(ascii: ".") && $0 != UInt8(ascii: "~")
        }
    }
}
