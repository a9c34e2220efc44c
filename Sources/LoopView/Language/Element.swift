/// One part of what a view shows, as a value: its kind, style, children and actions.
///
/// Elements are equal when they show the same; actions are not compared.
public struct Element: Sendable {
    /// What is shown.
    package enum Kind: Equatable, Sendable {
        /// A text with its line ends.
        case text(String)
        /// A title. `level` is 1 to 6, as in a document.
        case heading(String, level: Int)
        /// A button with its label.
        case button(String)
        /// A text that can be edited.
        case field(TextEntry)
        /// A switch that is on or off.
        case toggle(String, isOn: Bool)
        /// A link to another page. Only `http`, `https`, `mailto` and relative addresses are allowed.
        case link(String, address: String)
        /// The progress of some work, 0 to 1, or nil if the duration is unknown.
        case progress(String, fraction: Double?)
        /// A horizontal line.
        case divider
        /// Children below each other.
        case column
        /// Children side by side, if there is room.
        case row
        /// Children below each other, each an entry of a list.
        case list
        /// Children that are the shown rows of a long list.
        case window(RowWindow)
        /// The text of the page's address, which is not shown.
        case address(String)
        /// Children that replace this element.
        case group
    }

    /// The kind of the element, with the text that it shows.
    package var kind: Kind
    /// How the element looks; plain by default.
    package var style = Style()
    /// Whether its actions are disabled.
    package var isDisabled = false
    /// Whether a button presses itself as soon as it is visible.
    package var pressesWhenSeen = false
    /// The elements in a container, in order; empty for every other kind.
    package var children: [Element] = []
    /// Its name among its siblings: its position in the code, or a given name.
    package var key = ""
    /// Whether `key` was given by the user.
    var hasID = false
    var press: (@Sendable () -> Void)?
    var write: (@Sendable (String) -> Void)?
    package var submit: (@Sendable () -> Void)?
    /// An object that must live as long as this is shown.
    var owned: (any AnyObject & Sendable)?

    /// Creates an element without actions, with a plain style.
    package init(_ kind: Kind, children: [Element] = []) {
        self.kind = kind
        self.children = children
    }

    /// Whether a user can act on the element.
    package var isInteractive: Bool {
        switch kind {
        case .button, .field, .toggle, .link: !isDisabled
        default: false
        }
    }

    /// Whether the element can have children.
    package var isContainer: Bool {
        switch kind {
        case .column, .row, .list, .window, .group: true
        default: false
        }
    }
}

extension Element: Equatable {
    /// Whether both show the same, children included. Actions are not compared.
    public static func == (a: Element, b: Element) -> Bool { a.showsTheSame(as: b) && a.children == b.children }

    /// Whether both are equal, apart from the children.
    package func showsTheSame(as other: Element) -> Bool {
        kind == other.kind && style == other.style && isDisabled == other.isDisabled
            && pressesWhenSeen == other.pressesWhenSeen && key == other.key
            && (submit == nil) == (other.submit == nil)
    }
}

/// A text that can be edited.
package struct TextEntry: Equatable, Sendable {
    /// The name of the field, for people.
    package var label: String
    /// The text in the loop's state.
    package var text: String
    /// The text that is shown while the field is empty.
    package var prompt: String
    /// Whether the text is a secret that must not be shown.
    package var isSecret: Bool

    /// Creates an entry from its parts.
    package init(label: String, text: String, prompt: String = "", isSecret: Bool = false) {
        self.label = label
        self.text = text
        self.prompt = prompt
        self.isSecret = isSecret
    }
}

/// How an element looks, as a meaning. Each renderer has its own way to show it.
package struct Style: Equatable, Sendable {
    /// The meaning of the element's colour.
    package var tone = Tone.plain
    /// Whether the text is bold or otherwise emphasized.
    package var isStrong = false
    /// Whether the text is in a font of equal widths.
    package var isCode = false

    /// Creates a style from its parts; plain without arguments.
    package init(tone: Tone = .plain, isStrong: Bool = false) {
        self.tone = tone
        self.isStrong = isStrong
    }
}

/// What a colour means.
public enum Tone: String, CaseIterable, Sendable {
    /// No meaning: the usual colour.
    case plain
    /// Of minor importance.
    case secondary
    /// Important text, or the main action.
    case accent
    /// Green.
    case good
    /// Yellow.
    case warning
    /// Red.
    case bad
}
