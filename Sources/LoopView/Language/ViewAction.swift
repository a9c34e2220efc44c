/// A user's action on an element.
public enum ViewAction: Hashable, Sendable {
    /// A button or a toggle was pressed.
    case press(ElementID)
    /// The text of a field was changed.
    case write(ElementID, String)
    /// Enter was pressed in a field.
    case submit(ElementID)
}

extension ViewTree {
    /// Performs an action.
    /// - Returns: false if this tree has no such element, or it is disabled or cannot do that.
    @discardableResult
    public func perform(_ action: ViewAction) -> Bool {
        switch action {
        case .press(let id): return call(active(id)?.press)
        case .submit(let id): return call(active(id)?.submit)
        case .write(let id, let text):
            guard let write = active(id)?.write else { return false }
            write(text)
            return true
        }
    }

    private func active(_ id: ElementID) -> Element? { element(id).flatMap { $0.isDisabled ? nil : $0 } }

    private func call(_ action: (@Sendable () -> Void)?) -> Bool {
        guard let action else { return false }
        action()
        return true
    }

    // MARK: Finding, for tests

    /// The first element that `matches`.
    public func first(where matches: (Element) -> Bool) -> ElementID? {
        elements.first { matches($0.element) }?.id
    }

    /// The first button with this label.
    public func button(_ label: String) -> ElementID? { first { $0.kind == .button(label) } }

    /// The first text field with this label.
    public func field(_ label: String) -> ElementID? {
        first { if case .field(let entry) = $0.kind { entry.label == label } else { false } }
    }

    /// The first toggle with this label.
    public func toggle(_ label: String) -> ElementID? {
        first { if case .toggle(label, _) = $0.kind { true } else { false } }
    }
}
