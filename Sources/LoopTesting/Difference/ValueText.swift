/// The text of any value on one line, equal in every process: sets and dictionaries in sorted order, strings quoted.
///
/// A `CustomStringConvertible` type of a program determines its own text. For any other type the fields are shown.
package struct ValueText {
    private static let depthMax = 16

    private var text = ""
    private let charactersMax: Int
    private var count = 0

    /// - Parameter charactersMax: the length beyond which the text is shortened, with an ellipsis.
    package static func of(_ value: Any, charactersMax: Int = 160) -> String {
        var writer = ValueText(charactersMax: charactersMax)
        writer.write(value, depth: 0)
        guard writer.count > charactersMax else { return writer.text }
        return String(writer.text.prefix(charactersMax)) + "…"
    }

    private init(charactersMax: Int) { self.charactersMax = charactersMax }

    private mutating func write(_ value: Any, depth: Int) {
        if count > charactersMax { return }
        if let string = value as? any StringProtocol { return add(String(string).debugDescription) }
        if let character = value as? Character { return add(String(character).debugDescription) }
        let mirror = Mirror(reflecting: value)
        if depth > Self.depthMax { return add("…") }
        switch mirror.displayStyle {
        case .optional:
            guard let some = mirror.children.first else { return add("nil") }
            write(some.value, depth: depth + 1)
        case .collection:
            list(mirror.children.map { (nil, $0.value) }, in: ("[", "]"), depth)
        case .set:
            addAll(Self.sorted(mirror.children.map { Self.of($0.value, charactersMax: charactersMax) }))
        case .dictionary:
            let entries = mirror.children.map { entry -> (key: String, value: Any) in
                let pair = Mirror(reflecting: entry.value).children.map(\.value)
                return (Self.of(pair[0], charactersMax: charactersMax), pair[1])
            }
            entries.isEmpty
                ? add("[:]")
                : list(
                    entries.sorted { Self.isOrdered($0.key, $1.key) }.map { ($0.key, $0.value) }, in: ("[", "]"), depth)
        case .tuple:
            list(mirror.children.map { (Self.name($0.label), $0.value) }, in: ("(", ")"), depth)
        default:
            if let described = value as? any CustomStringConvertible { return add(described.description) }
            if mirror.displayStyle == .enum { return writeCase(value, mirror, depth) }
            let fields = Self.fields(mirror)
            if fields.isEmpty { return add(String(describing: value)) }
            add("\(type(of: value))")
            list(fields.map { ($0.label, $0.value) }, in: ("(", ")"), depth)
        }
    }

    private mutating func writeCase(_ value: Any, _ mirror: Mirror, _ depth: Int) {
        guard let payload = mirror.children.first else { return add(String(describing: value)) }
        add(payload.label ?? "")
        if Mirror(reflecting: payload.value).displayStyle == .tuple { return write(payload.value, depth: depth + 1) }
        list([(nil, payload.value)], in: ("(", ")"), depth)
    }

    private mutating func list(_ items: [(label: String?, value: Any)], in ends: (String, String), _ depth: Int) {
        add(ends.0)
        for (position, item) in items.enumerated() {
            if count > charactersMax { return }
            if position > 0 { add(", ") }
            if let label = item.label { add("\(label): ") }
            write(item.value, depth: depth + 1)
        }
        add(ends.1)
    }

    private mutating func addAll(_ items: [String]) {
        add("[\(items.joined(separator: ", "))]")
    }

    private mutating func add(_ chunk: String) {
        text += chunk
        count += chunk.count
    }

    // MARK: Reflection

    /// The stored properties of a struct or a class, those of its superclasses first.
    static func fields(_ mirror: Mirror) -> [(label: String, value: Any)] {
        let inherited = mirror.superclassMirror.map(fields) ?? []
        return inherited + mirror.children.enumerated().map { ($1.label ?? "\($0)", $1.value) }
    }

    /// The label of a part of a tuple, or nil if it has only a position.
    static func name(_ label: String?) -> String? {
        guard let label, label.first != "." else { return nil }
        return label
    }

    /// Sorts texts alphabetically, with whole numbers by size before all others.
    static func sorted(_ texts: [String]) -> [String] { texts.sorted(by: isOrdered) }

    static func isOrdered(_ a: String, _ b: String) -> Bool {
        switch (Int(a), Int(b)) {
        case (let first?, let second?): first != second ? first < second : a < b
        case (_?, nil): true
        case (nil, _?): false
        case (nil, nil): a < b
        }
    }
}
