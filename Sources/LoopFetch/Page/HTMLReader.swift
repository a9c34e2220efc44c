internal import CXML2

/// libxml2's HTML parser as a stream of elements: it builds no tree, loads nothing, and prints nothing.
enum HTMLReader {
    /// Tells `collector` about all elements of a page, however broken it is.
    ///
    /// - Parameter page: Valid UTF-8 without zero bytes.
    static func read(_ page: [UInt8], into collector: LinkCollector) {
        guard !page.isEmpty else { return }
        _ = isLibrarySetUp
        var callbacks = htmlSAXHandler()
        callbacks.startElement = { context, name, attributes in
            HTMLReader.collector(context).start(Word(name), Attributes(attributes))
        }
        callbacks.endElement = { context, name in HTMLReader.collector(context).end(Word(name)) }
        callbacks.characters = { context, bytes, count in
            HTMLReader.collector(context).text(UnsafeBufferPointer(start: bytes, count: Int(count)))
        }
        let context = Unmanaged.passUnretained(collector).toOpaque()
        guard let parser = htmlCreatePushParserCtxt(&callbacks, context, nil, 0, nil, XML_CHAR_ENCODING_UTF8) else {
            return
        }
        defer { htmlFreeParserCtxt(parser) }
        let options =
            HTML_PARSE_RECOVER.rawValue | HTML_PARSE_NONET.rawValue | HTML_PARSE_NOERROR.rawValue
            | HTML_PARSE_NOWARNING.rawValue | HTML_PARSE_IGNORE_ENC.rawValue
        htmlCtxtUseOptions(parser, Int32(options))
        withExtendedLifetime(collector) {
            page.withUnsafeBytes { bytes in
                guard let start = bytes.bindMemory(to: CChar.self).baseAddress else { return }
                // Pieces keep what libxml2 copies in its cache.
                var offset = 0
                while offset < bytes.count {
                    let count = min(pieceBytes, bytes.count - offset)
                    htmlParseChunk(parser, start + offset, Int32(count), 0)
                    offset += count
                }
                htmlParseChunk(parser, start, 0, 1)
            }
        }
    }

    private static let pieceBytes = 1 << 16

    private static let isLibrarySetUp: Bool = {
        xmlInitParser()
        return true
    }()

    private static func collector(_ context: UnsafeMutableRawPointer?) -> LinkCollector {
        Unmanaged<LinkCollector>.fromOpaque(context!).takeUnretainedValue()
    }
}

/// The attributes of an element: names and values in turn, ended by nil. Those without a value are skipped.
struct Attributes: Sequence, IteratorProtocol {
    private var rest: UnsafeMutablePointer<UnsafePointer<UInt8>?>?

    init(_ list: UnsafeMutablePointer<UnsafePointer<UInt8>?>?) { rest = list }

    mutating func next() -> (name: Word, value: UnsafePointer<UInt8>)? {
        while let pair = rest, let name = pair[0] {
            rest = pair + 2
            if let value = pair[1] { return (Word(name), value) }
        }
        return nil
    }

    /// The value of the attribute with this name.
    func value(_ wanted: Word) -> String? {
        first { $0.name == wanted }.map { String(cString: $0.value) }
    }
}
