// Unsafe: libxml2 lends names and values until a callback returns, and its context is freed once.

internal import CXML2

/// Reads pages as streams of elements. No tree is built, nothing is loaded or printed.
///
/// Most pages are read by `TagScanner`; those whose markup is not plain, by libxml2's HTML parser.
enum HTMLReader {
    /// All elements of a page, however broken it is.
    ///
    /// - Parameter page: Valid UTF-8 without zero bytes.
    /// - Returns: What was collected, and whether the page was read to its end; not so where its markup would take
    ///   unreasonably long.
    static func read(_ page: [UInt8]) -> (collector: LinkCollector, isWhole: Bool) {
        let scanned = LinkCollector()
        if scan(page, into: scanned) { return (scanned, true) }
        let collector = LinkCollector()
        return (collector, readByLibrary(page, into: collector))
    }

    /// Reads a page without libxml2.
    ///
    /// - Returns: False where it is not plain; `collector` then knows only a part of it.
    static func scan(_ page: [UInt8], into collector: LinkCollector) -> Bool {
        // Of a tag that is cut off at the end of the page, half an attribute could be told.
        guard let lastTag = page.lastIndex(of: UInt8(ascii: ">")) else { return true }
        return unsafe page.withUnsafeBufferPointer { bytes in
            unsafe TagScanner.read(UnsafeBufferPointer(rebasing: bytes[...lastTag]), into: collector)
        }
    }

    /// Reads a page with libxml2.
    ///
    /// - Returns: Whether it was read to its end.
    static func readByLibrary(_ page: [UInt8], into collector: LinkCollector) -> Bool {
        guard let lastTag = page.lastIndex(of: UInt8(ascii: ">")) else { return true }
        _ = isLibrarySetUp
        guard let parser = unsafe htmlNewParserCtxt() else { return false }
        defer { unsafe htmlFreeParserCtxt(parser) }
        var callbacks = unsafe htmlSAXHandler()
        unsafe callbacks.startElement = { context, name, attributes in
            unsafe HTMLReader.tell(context) { unsafe $0.start(Word(name), HTMLReader.attributes(attributes)) }
        }
        unsafe callbacks.endElement = { context, name in unsafe HTMLReader.tell(context) { unsafe $0.end(Word(name)) } }
        unsafe callbacks.characters = { context, bytes, count in
            unsafe HTMLReader.tell(context) { unsafe $0.text(UnsafeBufferPointer(start: bytes, count: Int(count))) }
        }
        unsafe parser.pointee.sax.pointee = callbacks
        unsafe parser.pointee.userData = Unmanaged.passUnretained(collector).toOpaque()
        let options =
            HTML_PARSE_RECOVER.rawValue | HTML_PARSE_NONET.rawValue | HTML_PARSE_NOERROR.rawValue
            | HTML_PARSE_NOWARNING.rawValue | HTML_PARSE_IGNORE_ENC.rawValue
        let wholeEnd = lastTag + 1
        let end = MarkupLimits.readableEnd(of: page[..<wholeEnd])
        return unsafe page.withUnsafeBytes { bytes in
            var supply = unsafe Supply(rest: UnsafeRawBufferPointer(rebasing: bytes[..<end]), parser: parser)
            withExtendedLifetime(collector) {
                unsafe withUnsafeMutablePointer(to: &supply) { supply in
                    let read: xmlInputReadCallback = { supply, buffer, room in
                        guard let supply = unsafe supply, let buffer = unsafe buffer else { return 0 }
                        return unsafe supply.assumingMemoryBound(to: Supply.self).pointee.next(buffer, room)
                    }
                    unsafe xmlFreeDoc(htmlCtxtReadIO(parser, read, nil, supply, nil, "UTF-8", Int32(options)))
                }
            }
            return end == wholeEnd && !supply.isGivenUp
        }
    }

    /// The page, piece by piece as libxml2 asks for it, until the work with it has become too much.
    @safe private struct Supply {
        var rest: UnsafeRawBufferPointer
        let parser: htmlParserCtxtPtr
        var work = 0
        var isGivenUp = false

        mutating func next(_ buffer: UnsafeMutablePointer<CChar>, _ room: Int32) -> Int32 {
            let count = unsafe min(Int(room), rest.count, 1 << 16)
            // An end tag is looked for among all open elements.
            unsafe work += Int(parser.pointee.nameNr) * (count / 4)
            if work > MarkupLimits.workMax { isGivenUp = true }
            if isGivenUp || count <= 0 { return 0 }
            unsafe UnsafeMutableRawBufferPointer(start: buffer, count: count)
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: rest[..<count]))
            unsafe rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            return Int32(count)
        }
    }

    private static let isLibrarySetUp: Bool = {
        xmlInitParser()
        return true
    }()

    /// The collector outlives the parser, so that it need not be retained for each piece.
    private static func tell(_ context: UnsafeMutableRawPointer?, _ body: (LinkCollector) -> Void) {
        guard let context = unsafe context else {
            preconditionFailure("libxml2 has lost the collector that it was given")
        }
        unsafe Unmanaged<LinkCollector>.fromOpaque(context)._withUnsafeGuaranteedRef(body)
    }

    /// - Parameter list: Names and values in turn, ended by nil. Those without a value are skipped.
    private static func attributes(_ list: UnsafeMutablePointer<UnsafePointer<UInt8>?>?) -> [Attribute] {
        var attributes: [Attribute] = []
        var rest = unsafe list
        while let pair = unsafe rest, let name = unsafe pair[0] {
            unsafe rest = pair + 2
            guard let value = unsafe pair[1] else { continue }
            let bytes = unsafe UnsafeBufferPointer(start: value, count: Int(xmlStrlen(value)))
            unsafe attributes.append(Attribute(name: Word(name), value: bytes))
        }
        return attributes
    }
}
