import LoopCore

/// A CBOR document as a tree, to be changed item by item and written again, with counts that are right or are not.
indirect enum CBORTree {
    /// The bytes of a number, a string or a simple value.
    case leaf([UInt8])
    case array([CBORTree])
    case map([(key: CBORTree, value: CBORTree)])

    /// A document that our own encoder wrote; nil for one that it would not.
    init?(_ bytes: [UInt8]) {
        var place = 0
        guard let tree = Self.read(bytes, &place), place == bytes.count else { return nil }
        self = tree
    }

    private static func read(_ bytes: [UInt8], _ place: inout Int) -> CBORTree? {
        let start = place
        guard place < bytes.count else { return nil }
        let (major, info) = (bytes[place] >> 5, Int(bytes[place] & 31))
        guard info < 28, major != 6 else { return nil }
        let width = info < 24 ? 0 : 1 << (info - 24)
        guard place + width < bytes.count else { return nil }
        let argument = info < 24 ? info : bytes[place + 1...place + width].reduce(0) { $0 &<< 8 | Int($1) }
        place += 1 + width
        switch major {
        case 2, 3:
            guard argument >= 0, argument <= bytes.count - place else { return nil }
            place += argument
        case 4:
            var items: [CBORTree] = []
            for _ in 0..<max(0, argument) {
                guard let item = read(bytes, &place) else { return nil }
                items.append(item)
            }
            return .array(items)
        case 5:
            var entries: [(key: CBORTree, value: CBORTree)] = []
            for _ in 0..<max(0, argument) {
                guard let key = read(bytes, &place), let value = read(bytes, &place) else { return nil }
                entries.append((key, value))
            }
            return .map(entries)
        default: break
        }
        return .leaf(Array(bytes[start..<place]))
    }

    /// Every item in it, itself first.
    var items: [CBORTree] {
        switch self {
        case .leaf: [self]
        case .array(let items): [self] + items.flatMap(\.items)
        case .map(let entries): [self] + entries.flatMap { $0.key.items + $0.value.items }
        }
    }
}

struct CBORMutator {
    var random: SeededRandom

    private mutating func below(_ limit: Int) -> Int { Int.random(in: 0..<max(limit, 1), using: &random) }

    /// The document with some of its items dropped, doubled, swapped, nested, or of another type.
    mutating func mutated(_ tree: CBORTree, with other: CBORTree) -> [UInt8] {
        let pool = other.items
        var out: [UInt8] = []
        write(changed(tree, pool, depth: 0), into: &out)
        return out
    }

    private mutating func changed(_ tree: CBORTree, _ pool: [CBORTree], depth: Int) -> CBORTree {
        if below(12) == 0 { return replacement(for: tree, pool) }
        switch tree {
        case .leaf: return tree
        case .array(var items):
            if below(4) == 0 { shuffle(&items) }
            return .array(items.map { changed($0, pool, depth: depth + 1) })
        case .map(var entries):
            if below(4) == 0 { shuffle(&entries) }
            return .map(
                entries.map { entry in
                    let key = below(20) == 0 ? replacement(for: entry.key, pool) : entry.key
                    return (key, changed(entry.value, pool, depth: depth + 1))
                })
        }
    }

    private mutating func shuffle<Item>(_ items: inout [Item]) {
        guard !items.isEmpty else { return }
        switch below(3) {
        case 0: items.remove(at: below(items.count))
        case 1: items.insert(items[below(items.count)], at: below(items.count + 1))
        default: items.swapAt(below(items.count), below(items.count))
        }
    }

    private mutating func replacement(for tree: CBORTree, _ pool: [CBORTree]) -> CBORTree {
        let extremes: [[UInt8]] = [
            [0x00], [0x1b] + [UInt8](repeating: 0xff, count: 8), [0x3b] + [UInt8](repeating: 0xff, count: 8),
            [0x1b, 0x7f] + [UInt8](repeating: 0xff, count: 7), [0xf6], [0xf7], [0xf5], [0xf9, 0x7e, 0x00],
            [0xfb, 0x7f, 0xef] + [UInt8](repeating: 0xff, count: 6), [0x40], [0x60], [0x61, 0xff], [0x5f, 0xff],
            [0xc2, 0x42, 0xff, 0xff], [0xe0], [0x80], [0xa0], [0x9f, 0xff],
        ]
        switch below(4) {
        case 0: return pool[below(pool.count)]
        case 1: return (0..<1 << below(8)).reduce(tree) { tree, _ in .array([tree]) }
        default: return .leaf(extremes[below(extremes.count)])
        }
    }

    private mutating func write(_ tree: CBORTree, into out: inout [UInt8]) {
        switch tree {
        case .leaf(let bytes): out += bytes
        case .array(let items):
            head(0x80, items.count, into: &out)
            for item in items { write(item, into: &out) }
        case .map(let entries):
            head(0xa0, entries.count, into: &out)
            for entry in entries {
                write(entry.key, into: &out)
                write(entry.value, into: &out)
            }
        }
    }

    /// A head whose count is now and then another one, or far beyond what follows.
    private mutating func head(_ major: UInt8, _ count: Int, into out: inout [UInt8]) {
        switch below(60) {
        case 0: out += [major | 27] + [UInt8](repeating: UInt8(below(2)) * 0xff, count: 8)
        case 1: out += [major | 26, 0x00, 0xff, 0xff, 0xff]
        case 2: out.append(major | UInt8(min(count + 1, 23)))
        default:
            if count < 24 {
                out.append(major | UInt8(count))
            } else {
                out += [major | 25, UInt8(count >> 8 & 255), UInt8(count & 255)]
            }
        }
    }
}
