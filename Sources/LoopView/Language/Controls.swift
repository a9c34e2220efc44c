/// A button that a user can press.
public struct Button: View {
    private let label: String
    private let action: @Sendable () -> Void

    /// - Parameters:
    ///   - label: the text of the button.
    ///   - action: runs when the button is pressed; mostly `context.action(for:)`.
    public init(_ label: String, action: @escaping @Sendable () -> Void) {
        self.label = label
        self.action = action
    }

    /// A single element of kind `button`.
    public var body: [Element] {
        var element = Element(.button(label))
        element.press = action
        return [element]
    }
}

/// A text to edit. Every change is written to the binding.
public struct TextField: View {
    private let entry: TextEntry
    private let write: @Sendable (String) -> Void
    private let submit: (@Sendable () -> Void)?

    /// - Parameters:
    ///   - label: what the field asks for.
    ///   - text: the text that the field shows and changes.
    ///   - prompt: shown while there is no text.
    ///   - isSecret: whether the text is hidden.
    ///   - onSubmit: runs when Enter is pressed.
    public init(
        _ label: String, text: Binding<String>, prompt: String = "", isSecret: Bool = false,
        onSubmit: (@Sendable () -> Void)? = nil
    ) {
        entry = TextEntry(label: label, text: text.value, prompt: prompt, isSecret: isSecret)
        write = { text.value = $0 }
        submit = onSubmit
    }

    /// A single element of kind `field`, with the text that the binding has now.
    public var body: [Element] {
        var element = Element(.field(entry))
        element.write = write
        element.submit = submit
        return [element]
    }
}

/// A switch: on or off.
public struct Toggle: View {
    private let label: String
    private let isOn: Binding<Bool>

    /// Creates a switch. Pressing it writes the opposite of the present value to the binding.
    public init(_ label: String, isOn: Binding<Bool>) {
        self.label = label
        self.isOn = isOn
    }

    /// A single element of kind `toggle`, with the value that the binding has now.
    public var body: [Element] {
        var element = Element(.toggle(label, isOn: isOn.value))
        element.press = { [isOn] in isOn.value = !isOn.value }
        return [element]
    }
}
