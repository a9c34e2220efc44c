/// The difference between two values of any type, line by line: only what changed, each line with the path to it.
///
/// ```text
/// - cars[2].plate: "A"
/// + cars[2].plate: "B"
/// + waiting: 7 (inserted)
/// ```
///
/// Structs, enums, optionals, arrays, sets and dictionaries are compared by reflection, part by part. Values that have no parts, or
/// hide them, are compared by their descriptions. Sets and dictionaries are in sorted order, so that the text is deterministic.
public struct Difference: Equatable, Sendable, CustomStringConvertible {
    /// The lines, `-` for the first value and `+` for the second. Empty if the values are equal.
    public let lines: [String]

    /// - Parameters:
    ///   - old: the value of the `-` lines.
    ///   - new: the value of the `+` lines.
    ///   - linesMax: the number of lines beyond which lines are only counted.
    public init<Value>(from old: Value, to new: Value, linesMax: Int = 40) {
        var comparison = Comparison(linesMax: max(linesMax, 2))
        comparison.compare(old, new, path: "", depth: 0)
        lines = comparison.result
    }

    /// Whether the values are equal: by `Equatable`, or else by their encoded bytes, or else by reflection.
    public var isEmpty: Bool { lines.isEmpty }

    /// The lines as one text, or an empty text if the values are equal.
    public var description: String { lines.joined(separator: "\n") }
}

/// A walk through two values at once.
private struct Comparison {
    private static let depthMax = 24
    /// The length beyond which texts are shortened to the part around their first difference.
    private static let charactersMax = 120
    /// The largest number of pairs of elements for which the shortest edit from one array to the other is searched.
    private static let pairsMax = 250_000

    private let linesMax: Int
    private var lines: [String] = []
    private var omittedCount = 0

    init(linesMax: Int) { self.linesMax = linesMax }

    var result: [String] { omittedCount == 0 ? lines : lines + ["… and \(omittedCount) more lines"] }

    mutating func compare(_ old: Any, _ new: Any, path: String, depth: Int) {
        if SameValue.are(old, new) { return }
        let (before, after) = (Mirror(reflecting: old), Mirror(reflecting: new))
        guard type(of: old) == type(of: new), depth < Self.depthMax else { return change(old, new, path) }
        let count = lines.count + omittedCount
        switch before.displayStyle {
        case .optional:
            guard let some = before.children.first, let other = after.children.first else { break }
            compare(some.value, other.value, path: path, depth: depth + 1)
        case .enum:
            guard let payload = before.children.first, let other = after.children.first, payload.label == other.label
            else { break }
            let path = join(path, payload.label ?? "")
            compare(payload.value, other.value, path: path, depth: depth + 1)
        case .collection:
            compareLists(before.children.map(\.value), after.children.map(\.value), path, depth)
        case .set:
            compareSets(before, after, path)
        case .dictionary:
            compareDictionaries(before, after, path, depth)
        case .struct, .class, .tuple:
            if isLibraryType(old) { break }
            let (fields, others) = (ValueText.fields(before), ValueText.fields(after))
            guard fields.count == others.count else { break }
            for (field, other) in zip(fields, others) {
                let label = field.label.first == "." ? String(field.label.dropFirst()) : field.label
                compare(field.value, other.value, path: join(path, label), depth: depth + 1)
            }
        default: break
        }
        // The values differ, but none of their parts shows it.
        if lines.count + omittedCount == count { change(old, new, path) }
    }

    // MARK: Collections

    private mutating func compareLists(_ old: [Any], _ new: [Any], _ path: String, _ depth: Int) {
        var start = 0
        while start < min(old.count, new.count), SameValue.are(old[start], new[start]) { start += 1 }
        var (oldEnd, newEnd) = (old.count, new.count)
        while oldEnd > start, newEnd > start, SameValue.are(old[oldEnd - 1], new[newEnd - 1]) {
            oldEnd -= 1
            newEnd -= 1
        }
        var removed: Set<Int> = []
        var inserted: Set<Int> = []
        if (oldEnd - start) * (newEnd - start) <= Self.pairsMax {
            let steps = Array(new[start..<newEnd]).difference(from: Array(old[start..<oldEnd]), by: SameValue.are)
            for case .remove(let offset, _, _) in steps { removed.insert(start + offset) }
            for case .insert(let offset, _, _) in steps { inserted.insert(start + offset) }
        } else {
            removed = Set(start..<oldEnd)
            inserted = Set(start..<newEnd)
        }
        var (i, j) = (start, start)
        while i < oldEnd || j < newEnd {
            switch (removed.contains(i), inserted.contains(j)) {
            case (true, true): compare(old[i], new[j], path: "\(path)[\(j)]", depth: depth + 1)
            case (true, false): add("-", "\(path)[\(i)]", text(old[i]) + " (removed)")
            case (false, true): add("+", "\(path)[\(j)]", text(new[j]) + " (inserted)")
            case (false, false): break
            }
            if removed.contains(i) == inserted.contains(j) {
                i += 1
                j += 1
            } else if removed.contains(i) {
                i += 1
            } else {
                j += 1
            }
        }
    }

    private mutating func compareSets(_ old: Mirror, _ new: Mirror, _ path: String) {
        let (before, after) = (Set(old.children.map(key)), Set(new.children.map(key)))
        for element in ValueText.sorted(before.subtracting(after).map { text($0.base) }) {
            add("-", path, element + " (removed)")
        }
        for element in ValueText.sorted(after.subtracting(before).map { text($0.base) }) {
            add("+", path, element + " (inserted)")
        }
    }

    private mutating func compareDictionaries(_ old: Mirror, _ new: Mirror, _ path: String, _ depth: Int) {
        let (before, after) = (entries(old), entries(new))
        let keys = Set(before.keys).union(after.keys).map { (key: $0, text: text($0.base)) }
        for (key, keyText) in keys.sorted(by: { ValueText.isOrdered($0.text, $1.text) }) {
            let path = "\(path)[\(keyText)]"
            switch (before[key], after[key]) {
            case (let value?, let other?): compare(value, other, path: path, depth: depth + 1)
            case (let value?, nil): add("-", path, text(value) + " (removed)")
            case (nil, let other?): add("+", path, text(other) + " (inserted)")
            case (nil, nil): break
            }
        }
    }

    private func entries(_ mirror: Mirror) -> [AnyHashable: Any] {
        var entries: [AnyHashable: Any] = [:]
        for child in mirror.children {
            let pair = Mirror(reflecting: child.value).children.map(\.value)
            entries[key((nil, pair[0]))] = pair[1]
        }
        return entries
    }

    /// Elements of sets and keys of dictionaries are hashable, even if a mirror shows something else.
    private func key(_ child: Mirror.Child) -> AnyHashable {
        child.value as? AnyHashable ?? AnyHashable(ValueText.of(child.value, charactersMax: .max))
    }

    // MARK: Lines

    private mutating func change(_ old: Any, _ new: Any, _ path: String) {
        var (first, second) = (
            ValueText.of(old, charactersMax: .max), ValueText.of(new, charactersMax: .max)
        )
        let isAlike = first == second
        (first, second) = Self.window(first, second)
        if type(of: old) != type(of: new) {
            first += " (\(type(of: old)))"
            second += " (\(type(of: new)))"
        }
        if isAlike, type(of: old) == type(of: new) { second += " (not equal, though it looks the same)" }
        add("-", path, first)
        add("+", path, second)
    }

    /// Both texts. If one is too long, both are shortened to the part around their first difference.
    private static func window(_ a: String, _ b: String) -> (String, String) {
        if max(a.count, b.count) <= charactersMax { return (a, b) }
        let common = zip(a, b).prefix { $0 == $1 }.count
        let start = max(0, common - charactersMax / 3)
        func cut(_ text: String) -> String {
            let part = text.dropFirst(start).prefix(charactersMax)
            return (start > 0 ? "…" : "") + part + (start + part.count < text.count ? "…" : "")
        }
        return (cut(a), cut(b))
    }

    private func text(_ value: Any) -> String { ValueText.of(value, charactersMax: Self.charactersMax) }

    private func join(_ path: String, _ label: String) -> String { path.isEmpty ? label : "\(path).\(label)" }

    /// Whether a type is of the standard library or of Foundation. The description of such a value is clearer than its fields.
    private func isLibraryType(_ value: Any) -> Bool {
        if Mirror(reflecting: value).displayStyle == .tuple { return false }
        let name = String(reflecting: type(of: value))
        return ["Swift.", "Foundation.", "FoundationEssentials."].contains { name.hasPrefix($0) }
    }

    private mutating func add(_ sign: String, _ path: String, _ text: String) {
        if lines.count >= linesMax {
            omittedCount += 1
        } else {
            lines.append(path.isEmpty ? "\(sign) \(text)" : "\(sign) \(path): \(text)")
        }
    }
}
