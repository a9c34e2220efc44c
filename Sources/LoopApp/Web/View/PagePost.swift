internal import LoopView

/// What a posted form asks for.
///
/// The page's script posts one action at a time: `do`, `element`, `text`. Without the script the whole page is one form: `text:`
/// and `was:` for each field, and `press` for the button. Enter in a field gives an empty `press`.
enum PagePost {
    /// The action that the script posted, or nil if the form has none.
    static func action(_ form: FormBody) -> ViewAction? {
        guard let element = form["element"] else { return nil }
        let id = ElementID(path: element)
        switch form["do"] {
        case "press": return .press(id)
        case "submit": return .submit(id)
        case "write": return form["text"].map { .write(id, $0) }
        default: return nil
        }
    }

    /// The fields that were edited on the page. Other fields are not written, whatever the loop's text is by now.
    static func edits(_ form: FormBody) -> [ViewAction] {
        form.fields.compactMap { name, text in
            guard name.hasPrefix("text:") else { return nil }
            let path = String(name.dropFirst(5))
            guard let was = form["was:\(path)"], was != text else { return nil }
            return .write(ElementID(path: path), text)
        }
    }

    /// The button that was pressed. Enter submits the edited field, or the only field that can be submitted.
    static func press(_ form: FormBody, in tree: ViewTree) -> ViewAction? {
        guard let path = form["press"] else { return nil }
        if !path.isEmpty { return .press(ElementID(path: path)) }
        let fields = tree.elements.filter { $0.element.submit != nil }.map(\.id)
        let edited = edits(form).compactMap { if case .write(let id, _) = $0, fields.contains(id) { id } else { nil } }
        if let id = edited.first { return .submit(id) }
        return fields.count == 1 ? fields.first.map { .submit($0) } : nil
    }
}
