// Unsafe: the tree and the parser are freed once, and no node outlives its tree.

internal import CCMarkGFM

/// A Markdown page, parsed by libcmark-gfm: CommonMark with GitHub's tables, footnotes and bare URLs.
///
/// It owns the parsed tree and frees it.
@safe struct MarkdownDocument: ~Copyable {
    /// The parts of a page that matter for links and anchors, in document order.
    enum Piece {
        case link(destination: String)
        case image(source: String)
        case headingStart
        case headingEnd
        /// Text without markup, including the text of code spans. Line breaks are spaces.
        case text(String)
        /// The page's own HTML: a whole block, or one tag, comment or instruction within a line.
        case html(String)
    }

    /// The root of the tree, from `cmark_parser_finish`.
    private let root: OpaquePointer

    /// Parses a page. Every text is valid CommonMark.
    init(_ text: String) {
        _ = Self.areExtensionsRegistered
        guard let parser = unsafe cmark_parser_new(CMARK_OPT_FOOTNOTES) else {
            preconditionFailure("libcmark-gfm cannot allocate a parser")
        }
        defer { unsafe cmark_parser_free(parser) }
        for name in ["table", "autolink"] {
            guard let syntax = unsafe cmark_find_syntax_extension(name) else {
                preconditionFailure("libcmark-gfm-extensions has no \(name)")
            }
            unsafe cmark_parser_attach_syntax_extension(parser, syntax)
        }
        var text = text
        text.withUTF8 { bytes in
            unsafe bytes.withMemoryRebound(to: CChar.self) {
                unsafe cmark_parser_feed(parser, $0.baseAddress, $0.count)
            }
        }
        guard let root = unsafe cmark_parser_finish(parser) else {
            preconditionFailure("libcmark-gfm has not returned the document that it was given")
        }
        unsafe self.root = root
    }

    deinit { unsafe cmark_node_free(root) }

    /// Calls `body` for each piece of the page.
    func forEachPiece(_ body: (Piece) -> Void) {
        guard let iterator = unsafe cmark_iter_new(root) else {
            preconditionFailure("libcmark-gfm cannot allocate an iterator")
        }
        defer { unsafe cmark_iter_free(iterator) }
        // The alternative text of an image is not part of a heading.
        var imageDepth = 0
        while true {
            let event = unsafe cmark_iter_next(iterator)
            if event == CMARK_EVENT_DONE { return }
            let isEnter = event == CMARK_EVENT_ENTER
            let node = unsafe cmark_iter_get_node(iterator)
            switch unsafe cmark_node_get_type(node) {
            case CMARK_NODE_HEADING: body(isEnter ? .headingStart : .headingEnd)
            case CMARK_NODE_LINK: if isEnter { unsafe body(.link(destination: string(cmark_node_get_url(node)))) }
            case CMARK_NODE_IMAGE:
                if isEnter { unsafe body(.image(source: string(cmark_node_get_url(node)))) }
                imageDepth += isEnter ? 1 : -1
            case CMARK_NODE_TEXT, CMARK_NODE_CODE:
                if imageDepth == 0 { unsafe body(.text(string(cmark_node_get_literal(node)))) }
            case CMARK_NODE_SOFTBREAK, CMARK_NODE_LINEBREAK: if imageDepth == 0 { body(.text(" ")) }
            case CMARK_NODE_HTML_BLOCK, CMARK_NODE_HTML_INLINE:
                unsafe body(.html(string(cmark_node_get_literal(node))))
            default: break
            }
        }
    }

    /// A copy of a string that the tree owns, or empty for a null pointer.
    private func string(_ bytes: UnsafePointer<CChar>?) -> String {
        unsafe bytes.map { unsafe String(cString: $0) } ?? ""
    }

    private static let areExtensionsRegistered: Bool = {
        cmark_gfm_core_extensions_ensure_registered()
        return true
    }()
}
