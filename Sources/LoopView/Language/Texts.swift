/// Text, as it is; line ends are kept.
public struct Text: View {
    private let text: String

    public init(_ text: String) { self.text = text }

    /// Any value, in its own words.
    @_disfavoredOverload
    public init(_ value: some CustomStringConvertible) { text = value.description }

    public var body: [Element] { [Element(.text(text))] }
}

/// A title.
public struct Heading: View {
    private let text: String
    private let level: Int

    /// - Parameter level: 1 to 6, as in a document.
    public init(_ text: String, level: Int = 1) {
        self.text = text
        self.level = min(max(level, 1), 6)
    }

    public var body: [Element] { [Element(.heading(text, level: level))] }
}

/// A way to another page.
public struct Link: View {
    private let text: String
    private let address: String

    /// - Parameter address: `http`, `https` or `mailto`, or relative; of others only the text is shown.
    public init(_ text: String, to address: String) {
        self.text = text
        self.address = address
    }

    public var body: [Element] {
        guard Self.isHarmless(address) else { return [Element(.text(text))] }
        return [Element(.link(text, address: address))]
    }

    /// Whether an address leads to a page, and not into a script.
    package static func isHarmless(_ address: String) -> Bool {
        // Browsers leave out control characters wherever they stand, and blanks at the beginning.
        guard address.unicodeScalars.allSatisfy({ $0.value > 32 && $0.value != 127 }) else { return false }
        let scheme = address.prefix { $0 != ":" && $0 != "/" && $0 != "?" && $0 != "#" }
        guard address[scheme.endIndex...].hasPrefix(":") else { return true }
        return ["http", "https", "mailto"].contains(scheme.lowercased())
    }
}

/// How far something has come.
public struct ProgressBar: View {
    private let label: String
    private let fraction: Double?

    /// - Parameter fraction: 0 to 1; nil: it goes on, and nobody knows how long.
    public init(_ label: String = "", fraction: Double? = nil) {
        self.label = label
        self.fraction = fraction.map { $0.isNaN ? 0 : min(max($0, 0), 1) }
    }

    public var body: [Element] { [Element(.progress(label, fraction: fraction))] }
}

/// A line across.
public struct Divider: View {
    public init() {}

    public var body: [Element] { [Element(.divider)] }
}
