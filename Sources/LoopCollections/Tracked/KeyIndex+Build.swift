// Unsafe: only the builder uses new nodes until the root has them.

extension KeyIndex {
    /// Makes an index of many words bucket by bucket. If they were inserted one by one, each bucket would be out of the processor's
    /// cache.
    /// - Parameters:
    ///   - words: the words in any order; they are sorted by hash.
    ///   - areUnlike: whether two ordinals with one hash belong to different keys.
    /// - Returns: false if a key occurs twice.
    static func build(_ words: inout [UInt64], into index: inout KeyIndex, _ areUnlike: (Int, Int) -> Bool) -> Bool {
        var isValid = true
        var room = [UInt64](repeating: 0, count: words.count)
        index.root = unsafe words.withUnsafeMutableBufferPointer { words in
            unsafe room.withUnsafeMutableBufferPointer { room in
                unsafe IndexNode.built(words, room, depth: 0) { if !areUnlike($0, $1) { isValid = false } }
            }
        }
        return isValid
    }
}

extension IndexNode {
    /// A node of these words, at its depth.
    /// - Parameters:
    ///   - room: memory for as many words, used for sorting.
    ///   - meet: called with all pairs of ordinals with one hash.
    fileprivate static func built(
        _ words: UnsafeMutableBufferPointer<UInt64>, _ room: UnsafeMutableBufferPointer<UInt64>, depth: Int,
        _ meet: (Int, Int) -> Void
    ) -> IndexNode {
        if words.count * 4 <= bucketCapacityMax * 3 || depth >= depthMax {
            var capacity = 8
            while capacity * 3 < words.count * 4 { capacity *= 2 }
            let bucket = bucket(capacity: capacity)
            for index in words.indices { bucket.put(unsafe words[index], depth, meet) }
            return bucket
        }
        var ends = [Int](repeating: 0, count: TrieShape.width)
        for index in words.indices { ends[home(unsafe words[index], depth, TrieShape.mask)] += 1 }
        var begin = 0
        for child in 0..<TrieShape.width {
            let count = ends[child]
            ends[child] = begin
            begin += count
        }
        for index in words.indices {
            let word = unsafe words[index]
            let child = home(word, depth, TrieShape.mask)
            unsafe room[ends[child]] = word
            ends[child] += 1
        }
        begin = 0
        return branch { child in
            let range = begin..<ends[child]
            begin = ends[child]
            return unsafe built(
                UnsafeMutableBufferPointer(rebasing: room[range]), UnsafeMutableBufferPointer(rebasing: words[range]),
                depth: depth + 1, meet)
        }
    }

    private func put(_ word: UInt64, _ depth: Int, _ meet: (Int, Int) -> Void) {
        let (header, words) = unsafe parts
        var place = unsafe Self.home(word, depth, header.pointee.mask)
        while unsafe words[place] != 0 {
            if unsafe words[place] & IndexWord.hashMask == word & IndexWord.hashMask {
                unsafe meet(IndexWord.ordinal(words[place]), IndexWord.ordinal(word))
            }
            place = unsafe (place + 1) & header.pointee.mask
        }
        unsafe words[place] = word
        unsafe header.pointee.count += 1
    }
}
