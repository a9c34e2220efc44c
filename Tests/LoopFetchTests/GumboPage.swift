import CGumbo

@testable import LoopFetch

/// What gumbo, an HTML parser that builds the whole tree, says of a page.
enum GumboPage {
    static func read(_ page: [UInt8], url: WebURL) -> ParsedPage {
        let collector = LinkCollector()
        page.withUnsafeBytes { bytes in
            var options = kGumboDefaultOptions
            options.max_errors = 0
            guard
                let output = gumbo_parse_with_options(
                    &options, bytes.bindMemory(to: CChar.self).baseAddress, bytes.count)
            else { return }
            var waiting: [UnsafeMutablePointer<GumboNode>] = [output.pointee.document]
            while let node = waiting.popLast() {
                switch node.pointee.type {
                case GUMBO_NODE_DOCUMENT: waiting += nodes(node.pointee.v.document.children)
                case GUMBO_NODE_ELEMENT, GUMBO_NODE_TEMPLATE:
                    let element = node.pointee.v.element
                    let name = String(cString: gumbo_normalized_tagname(element.tag))
                    let attributes = items(element.attributes).map {
                        attribute(of: $0.assumingMemoryBound(to: GumboAttribute.self))
                    }
                    if !attributes.isEmpty { collector.start(word(name), attributes) }
                    if node.pointee.type == GUMBO_NODE_ELEMENT { waiting += nodes(element.children) }
                default: break
                }
            }
            gumbo_destroy_output(&options, output)
        }
        return collector.page(at: url, charset: .utf8)
    }

    private static func attribute(of attribute: UnsafeMutablePointer<GumboAttribute>) -> Attribute {
        let name = String(cString: attribute.pointee.name)
        let prefix = attribute.pointee.attr_namespace == GUMBO_ATTR_NAMESPACE_XLINK ? "xlink:" : ""
        return Attribute(name: word(prefix + name), value: String(cString: attribute.pointee.value!))
    }

    private static func word(_ name: String) -> Word {
        var word = Word()
        for byte in name.utf8 { word.append(byte) }
        return word
    }

    private static func nodes(_ vector: GumboVector) -> [UnsafeMutablePointer<GumboNode>] {
        items(vector).reversed().map { $0.assumingMemoryBound(to: GumboNode.self) }
    }

    private static func items(_ vector: GumboVector) -> [UnsafeMutableRawPointer] {
        (0..<Int(vector.length)).compactMap { vector.data[$0] }
    }
}
