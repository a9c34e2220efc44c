// Unsafe: both indexes cover their whole documents, so every item lies within its bytes.

/// A part of two documents that differs. A value that one of them does not have is nil.
package struct CBORDifference: Equatable, Sendable {
    /// Keys of maps as JSON has them, and indices of array elements, from 0.
    package var path: [String]
    package var old: [UInt8]?
    package var new: [UInt8]?

    /// Creates a difference from its parts.
    package init(path: [String], old: [UInt8]?, new: [UInt8]?) {
        self.path = path
        self.old = old
        self.new = new
    }
}

extension CBOR {
    /// Finds the parts of two documents that differ, without building any value. Maps are compared by key, arrays by index.
    /// - Parameters:
    ///   - old: a document.
    ///   - new: another document.
    ///   - countMax: how many differences to find.
    ///   - limits: the limits for each document.
    /// - Returns: the differences in the order of the second document, then what only the first has; and whether there are more.
    /// - Throws: ``WireError`` if the bytes are not valid CBOR.
    package static func differences(
        from old: [UInt8], to new: [UInt8], max countMax: Int, limits: CBORLimits = .default
    ) throws(WireError) -> (differences: [CBORDifference], isCut: Bool) {
        try CBORIndex.with(old, limits, isValid: true) { (old) throws(WireError) in
            try CBORIndex.with(new, limits, isValid: true) { (new) throws(WireError) in
                var comparison = CBORComparison(old: old, new: new, countMax: countMax)
                comparison.compare(.root, .root, at: [])
                return (comparison.found, comparison.isCut)
            }
        }
    }
}

/// A walk through two documents at the same time.
private struct CBORComparison {
    let old: CBORIndex
    let new: CBORIndex
    let countMax: Int
    var found: [CBORDifference] = []
    var isCut = false

    mutating func compare(_ before: CBORIndex.Item, _ after: CBORIndex.Item, at path: [String]) {
        if isCut || old.isSame(before, new, after) { return }
        let majors = (old.head(at: Int(before.offset)).major, new.head(at: Int(after.offset)).major)
        switch majors {
        case (4, 4), (5, 5):
            let (before, after) = (old.untagged(before), new.untagged(after))
            let names = majors.0 == 5
            compare(old.entries(of: before, isMap: names), new.entries(of: after, isMap: names), names, path)
        default: add(before, after, at: path)
        }
    }

    /// Entries are most often in the same order, so those at the same place are compared first.
    private mutating func compare(
        _ before: [(name: CBORIndex.Item?, value: CBORIndex.Item)],
        _ after: [(name: CBORIndex.Item?, value: CBORIndex.Item)], _ isMap: Bool, _ path: [String]
    ) {
        guard isMap else {
            for index in 0..<max(before.count, after.count) where !isCut {
                let values = (
                    index < before.count ? before[index].value : nil, index < after.count ? after[index].value : nil
                )
                compareAny(values.0, values.1, at: path + ["\(index)"])
            }
            return
        }
        var same = 0
        while same < min(before.count, after.count), let a = before[same].name, let b = after[same].name,
            old.isSame(a, new, b)
        {
            if isCut { return }
            if !old.isSame(before[same].value, new, after[same].value) {
                compare(before[same].value, after[same].value, at: path + [new.text(ofKey: b)])
            }
            same += 1
        }
        var rest: [String: CBORIndex.Item] = [:]
        var order: [String] = []
        for case (let name?, let value) in before[same...] {
            let name = old.text(ofKey: name)
            rest[name] = value
            order.append(name)
        }
        for case (let name?, let value) in after[same...] where !isCut {
            let name = new.text(ofKey: name)
            compareAny(rest.removeValue(forKey: name), value, at: path + [name])
        }
        for name in order where !isCut {
            if let value = rest[name] { add(value, nil, at: path + [name]) }
        }
    }

    private mutating func compareAny(_ before: CBORIndex.Item?, _ after: CBORIndex.Item?, at path: [String]) {
        if let before, let after { compare(before, after, at: path) } else { add(before, after, at: path) }
    }

    private mutating func add(_ before: CBORIndex.Item?, _ after: CBORIndex.Item?, at path: [String]) {
        guard found.count < countMax else {
            isCut = true
            return
        }
        found.append(CBORDifference(path: path, old: before.map(old.copy), new: after.map(new.copy)))
    }
}

extension CBORIndex {
    /// The bytes of an item with its tags.
    func range(of item: Item) -> Range<Int> { Int(item.offset)..<Int(after(untagged(item)).offset) }

    fileprivate func copy(_ item: Item) -> [UInt8] {
        let range = range(of: item)
        return unsafe Array(UnsafeBufferPointer(start: base + range.lowerBound, count: range.count))
    }

    fileprivate func isSame(_ item: Item, _ index: CBORIndex, _ other: Item) -> Bool {
        let (a, b) = (range(of: item), index.range(of: other))
        guard a.count == b.count else { return false }
        return unsafe UnsafeBufferPointer(start: base + a.lowerBound, count: a.count)
            .elementsEqual(UnsafeBufferPointer(start: index.base + b.lowerBound, count: b.count))
    }

    /// The item without its tags.
    func untagged(_ item: Item) -> Item {
        var item = item
        while let (_, content) = tag(of: item) { item = content }
        return item
    }

    fileprivate func entries(of item: Item, isMap: Bool) -> [(name: Item?, value: Item)] {
        var entries: [(name: Item?, value: Item)] = []
        var name: Item?
        forEach(in: item, isMap: isMap) { number, element in
            if isMap, number % 2 == 0 {
                name = element
            } else {
                entries.append((name, element))
            }
        }
        return entries
    }
}

/// One level of a document: the entries of a map or an array, each with its size, without what is within them.
package struct CBOROutline: Codable, Equatable, Sendable {
    package enum Kind: String, Codable, Sendable {
        case map, array, value
    }

    /// A value of the document.
    package struct Entry: Codable, Equatable, Sendable {
        /// Its key in a map as JSON has it, or its number in an array, or nothing if it is the whole document.
        package var name: String
        package var kind: Kind
        /// How many entries it has; 0 for a value.
        package var count: Int
        /// The size of the encoded value.
        package var size: Int
        /// The encoded value, or nothing if it is larger than 256 bytes.
        package var value: [UInt8]
    }

    /// The value itself.
    package var whole: Entry
    /// The selected entries, in the order of the document.
    package var entries: [Entry]
}

extension CBOR {
    /// Finds the entries of the map or the array that a document is.
    /// - Parameters:
    ///   - bytes: a document.
    ///   - selected: the numbers of the entries to find.
    ///   - limits: the limits for the document.
    /// - Throws: ``WireError`` if the bytes are not valid CBOR.
    package static func outline(
        of bytes: [UInt8], entries selected: Range<Int>, limits: CBORLimits = .default
    ) throws(WireError) -> CBOROutline {
        try CBORIndex.with(bytes, limits, isValid: true) { index in
            var outline = CBOROutline(whole: index.entry(.root, name: ""), entries: [])
            if outline.whole.kind == .value { return outline }
            let isMap = outline.whole.kind == .map
            var key: CBORIndex.Item?
            index.forEach(in: index.untagged(.root), isMap: isMap) { number, element in
                let place = isMap ? number / 2 : number
                guard selected.contains(place) else { return }
                if isMap, number % 2 == 0 {
                    key = element
                } else {
                    outline.entries.append(index.entry(element, name: key.map(index.text(ofKey:)) ?? "\(place)"))
                }
            }
            return outline
        }
    }
}

extension CBORIndex {
    fileprivate func entry(_ item: Item, name: String) -> CBOROutline.Entry {
        let inner = untagged(item)
        let major = head(at: Int(inner.offset)).major
        let isContainer = major == 4 || major == 5
        let size = range(of: item).count
        return CBOROutline.Entry(
            name: name, kind: major == 5 ? .map : major == 4 ? .array : .value,
            count: isContainer ? Int(containers[Int(inner.container)].count) : 0, size: size,
            value: size <= 256 ? copy(item) : [])
    }
}
