/// The links to one target, as pairs of page and fragment, in about six bytes each.
///
/// Each link is two numbers in LEB128. Fragments are numbered in a table; 0 is the fragment of a link without one.
struct LinkList: Sendable, Equatable {
    struct Link: Hashable, Sendable {
        var page: UInt32
        var fragment: UInt32
    }

    private(set) var bytes: [UInt8] = []

    init() {}

    /// Creates a list from its bytes. Malformed bytes end the list.
    init(bytes: [UInt8]) { self.bytes = bytes }

    init(_ links: some Sequence<Link>) {
        for link in links { append(link) }
    }

    var isEmpty: Bool { bytes.isEmpty }

    mutating func append(_ link: Link) {
        append(link.page)
        append(link.fragment)
    }

    private mutating func append(_ number: UInt32) {
        var rest = number
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }
}

extension LinkList: Sequence {
    func makeIterator() -> AnyIterator<Link> {
        var rest = bytes[...]
        func number() -> UInt32? {
            var number: UInt32 = 0
            var shift: UInt32 = 0
            while shift < 32, let byte = rest.popFirst() {
                number |= UInt32(byte & 0x7f) << shift
                if byte < 0x80 { return number }
                shift += 7
            }
            return nil
        }
        return AnyIterator { number().flatMap { page in number().map { Link(page: page, fragment: $0) } } }
    }
}
