internal import LoopView

/// Renders elements as HTML. Everything in a state comes out as text: nothing in it can be read as markup, in an element or in an
/// attribute.
enum HTML {
    /// An element with its children.
    static func render(_ element: Element, _ id: ElementID) -> String {
        var html = ""
        append(element, id, to: &html)
        return html
    }

    /// The name of an element in the document.
    static func documentID(_ id: ElementID) -> String { "v\(id.path)" }

    private static func append(_ element: Element, _ id: ElementID, to html: inout String) {
        let own = "id=\"\(escaped(documentID(id)))\""
        let path = escaped(id.path)
        let off = element.isDisabled ? " disabled" : ""
        switch element.kind {
        case .text(let text): html += "<p \(own)\(classes(element))>\(escaped(text))</p>"
        case .heading(let text, let level):
            let level = min(max(level, 1), 6)
            html += "<h\(level) \(own)\(classes(element))>\(escaped(text))</h\(level)>"
        case .button(let label):
            let seen = element.pressesWhenSeen && !element.isDisabled ? " data-seen" : ""
            html += "<button \(own)\(classes(element)) name=\"press\" value=\"\(path)\"\(seen)\(off)>"
            html += "\(escaped(label))</button>"
        case .toggle(let label, let isOn):
            html +=
                "<button \(own)\(classes(element, "toggle")) role=\"switch\" aria-checked=\"\(isOn)\" name=\"press\""
            html += " value=\"\(path)\"\(off)>\(escaped(label))</button>"
        case .field(let entry): append(entry, element, own, path, off, to: &html)
        case .link(let text, let address):
            guard Link.isHarmless(address) else {
                html += "<p \(own)\(classes(element))>\(escaped(text))</p>"
                return
            }
            html += "<a \(own)\(classes(element)) href=\"\(escaped(address))\" rel=\"noopener noreferrer\">"
            html += "\(escaped(text))</a>"
        case .progress(let label, let fraction):
            let value = fraction.map { " value=\"\(min(max($0, 0), 1))\"" } ?? ""
            html += "<label \(own)\(classes(element, "progress"))><span>\(escaped(label))</span>"
            html += "<progress max=\"1\"\(value)></progress></label>"
        case .divider: html += "<hr \(own)>"
        case .column, .group: append(element.children, of: id, in: "div", own + classes(element, "column"), to: &html)
        case .row: append(element.children, of: id, in: "div", own + classes(element, "row"), to: &html)
        case .window(let window):
            html += "<div \(own)\(classes(element, "window")) tabindex=\"0\" data-element=\"\(path)\""
            html += " data-count=\"\(window.count)\" data-first=\"\(window.first)\"><div class=\"before\"></div>"
            append(element.children, of: id, in: "div", "class=\"rows\"", to: &html)
            html += "<div class=\"after\"></div></div>"
        case .address(let text):
            html += "<span \(own) hidden data-element=\"\(path)\" data-address=\"\(escaped(text))\"></span>"
        case .list:
            html += "<ul \(own)\(classes(element, "list"))>"
            for child in element.children {
                let childID = id.child(child.key)
                html += "<li id=\"e\(escaped(childID.path))\">"
                append(child, childID, to: &html)
                html += "</li>"
            }
            html += "</ul>"
        }
    }

    private static func append(
        _ children: [Element], of id: ElementID, in tag: String, _ attributes: String, to html: inout String
    ) {
        html += "<\(tag) \(attributes)>"
        for child in children { append(child, id.child(child.key), to: &html) }
        html += "</\(tag)>"
    }

    private static func append(
        _ entry: TextEntry, _ element: Element, _ own: String, _ path: String, _ off: String, to html: inout String
    ) {
        let text = escaped(entry.text)
        html += "<label \(own)\(classes(element, "field"))><span>\(escaped(entry.label))</span>"
        // The text of the field when the page was made tells an edit from an old page.
        html += "<input type=\"hidden\" name=\"was:\(path)\" value=\"\(text)\"\(off)>"
        html += "<input type=\"\(entry.isSecret ? "password" : "text")\" name=\"text:\(path)\" value=\"\(text)\""
        html += " data-field=\"\(path)\"\(element.submit == nil ? "" : " data-submit")"
        html += entry.prompt.isEmpty ? "" : " placeholder=\"\(escaped(entry.prompt))\""
        html += " autocomplete=\"off\"\(off)></label>"
    }

    private static func classes(_ element: Element, _ first: String? = nil) -> String {
        var names: [String] = []
        if let first { names.append(first) }
        if element.style.tone != .plain { names.append(element.style.tone.rawValue) }
        if element.style.isStrong { names.append("strong") }
        if element.style.isCode { names.append("code") }
        return names.isEmpty ? "" : " class=\"\(names.joined(separator: " "))\""
    }

    /// Escapes text for an element or a quoted attribute. Control characters, which HTML does not allow, are replaced.
    static func escaped(_ text: String) -> String {
        if !text.utf8.contains(where: isSpecial) { return text }
        var safe = ""
        safe.reserveCapacity(text.utf8.count + 16)
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": safe += "&amp;"
            case "<": safe += "&lt;"
            case ">": safe += "&gt;"
            case "\"": safe += "&quot;"
            case "'": safe += "&#39;"
            case "\n", "\t": safe.unicodeScalars.append(scalar)
            case "\0"..."\u{1F}", "\u{7F}"..."\u{9F}": safe.unicodeScalars.append("\u{FFFD}")
            default: safe.unicodeScalars.append(scalar)
            }
        }
        return safe
    }

    /// Whether a byte may begin a character to replace. 0xC2 begins the control characters above ASCII.
    private static func isSpecial(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "&"), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\""), UInt8(ascii: "'"), 0..<32,
            127,
            0xC2:
            true
        default: false
        }
    }
}
