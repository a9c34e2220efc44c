/// Text that is shown as it is, with its line ends.
public struct Text: View {
    private let text: String

    /// Creates a text that is shown as it is.
    public init(_ text: String) { self.text = text }

    /// Creates a text from any value's description.
    @_disfavoredOverload
    public init(_ value: some CustomStringConvertible) { text = value.description }

    /// A single element of kind `text`.
    public var body: [Element] { [Element(.text(text))] }
}

/// A title.
public struct Heading: View {
    private let text: String
    private let level: Int

    /// - Parameters:
    ///   - text: the text of the heading.
    ///   - level: 1 to 6, as in a document.
    public init(_ text: String, level: Int = 1) {
        self.text = text
        self.level = min(max(level, 1), 6)
    }

    /// A single element of kind `heading`, with a level from 1 to 6.
    public var body: [Element] { [Element(.heading(text, level: level))] }
}

/// A link to another page.
public struct Link: View {
    private let text: String
    private let address: String

    /// - Parameters:
    ///   - text: the text of the link.
    ///   - address: `http`, `https`, `mailto` or relative; with any other address, only the text is shown.
    public init(_ text: String, to address: String) {
        self.text = text
        self.address = address
    }

    /// A single element of kind `link`, or of kind `text` if the address is not allowed.
    public var body: [Element] {
        guard Self.isHarmless(address) else { return [Element(.text(text))] }
        return [Element(.link(text, address: address))]
    }

    /// Whether an address leads to a page and not into a script.
    package static func isHarmless(_ address: String) -> Bool {
        // Browsers ignore control characters anywhere, and blanks at the beginning.
        guard address.unicodeScalars.allSatisfy({ $0.value > 32 && $0.value != 127 }) else { return false }
        let scheme = address.prefix { $0 != ":" && $0 != "/" && $0 != "?" && $0 != "#" }
        guard address[scheme.endIndex...].hasPrefix(":") else { return true }
        return ["http", "https", "mailto"].contains(scheme.lowercased())
    }
}

/// The progress of some work.
public struct ProgressBar: View {
    private let label: String
    private let fraction: Double?

    /// - Parameters:
    ///   - label: names the work.
    ///   - fraction: 0 to 1, or nil if the duration is unknown.
    public init(_ label: String = "", fraction: Double? = nil) {
        self.label = label
        self.fraction = fraction.map { $0.isNaN ? 0 : min(max($0, 0), 1) }
    }

    /// A single element of kind `progress`.
    public var body: [Element] { [Element(.progress(label, fraction: fraction))] }
}

/// A horizontal line.
public struct Divider: View {
    /// Creates a divider.
    public init() {}

    /// A single element of kind `divider`.
    public var body: [Element] { [Element(.divider)] }
}
