import LoopCollections
import LoopCore
import Testing

@Suite struct `Tracked dictionaries` {
    @Test func `entries stay in order of insertion`() {
        var dictionary: TrackedDictionary = ["b": 1, "a": 2, "c": 3]
        dictionary["a"] = 4
        #expect(dictionary.map(\.key) == ["b", "a", "c"])
        dictionary["b"] = nil
        dictionary["b"] = 5
        #expect(Array(dictionary.keys) == ["a", "c", "b"])
        #expect(Array(dictionary.values) == [4, 3, 5])
        #expect("\(dictionary)" == #"["a": 4, "c": 3, "b": 5]"#)
        #expect("\(TrackedDictionary<Int, Int>())" == "[:]")
    }

    @Test func `a copy stays as it was`() {
        var dictionary = TrackedDictionary((0..<1000).map { ($0, "\($0)") })
        let copy = dictionary
        for key in 0..<1000 where key.isMultiple(of: 2) { dictionary[key] = nil }
        dictionary[1]?.append("!")
        dictionary[2000] = "new"
        #expect(copy.map(\.value) == (0..<1000).map { "\($0)" })
        #expect(dictionary.count == 501)
        #expect(dictionary[1] == "1!")
        #expect(dictionary.last?.key == 2000)
    }

    @Test func `a value with one owner is changed in place`() {
        var dictionary = TrackedDictionary((0..<100).map { ($0, [$0]) })
        dictionary[5]?.reserveCapacity(100)
        let before = dictionary[5]?.withUnsafeBufferPointer { $0.baseAddress }
        dictionary[5]?.append(1)
        dictionary[5, default: []].append(2)
        #expect(dictionary[5]?.withUnsafeBufferPointer { $0.baseAddress } == before)
        #expect(dictionary[5] == [5, 1, 2])
    }

    @Test func `another thread reads a copy while the dictionary goes on`() async {
        var dictionary = TrackedDictionary((0..<3000).map { ($0, "\($0)") })
        for round in 0..<10 {
            let copy = dictionary
            let expected = copy.reduce(0) { $0 + $1.value.utf8.count }
            let reader = Task.detached { copy.reduce(0) { $0 + $1.value.utf8.count } }
            for key in 0..<300 {
                dictionary[key * 7]?.append("!")
                dictionary[3000 + round * 300 + key] = "new"
                dictionary[round * 300 + key] = nil
            }
            #expect(await reader.value == expected)
        }
        #expect(dictionary.count == 3000)
    }

    @Test func `of several entries for one key the last gives the value and the first the place`() {
        #expect(TrackedDictionary([("a", 1), ("b", 2), ("a", 3)]) == ["a": 3, "b": 2])
    }

    @Test func `mapping and filtering keep the order`() {
        let dictionary: TrackedDictionary = ["b": 1, "a": 2, "c": 3]
        #expect(dictionary.mapValues { $0 * 10 } == ["b": 10, "a": 20, "c": 30])
        #expect(dictionary.filter { $0.value != 2 } == ["b": 1, "c": 3])
    }

    @Test func `what it holds lives as long as it`() {
        final class Item: Sendable {}
        weak var kept: Item?
        weak var removed: Item?
        do {
            var dictionary: TrackedDictionary<Int, Item> = [:]
            for key in 0..<100 { dictionary[key] = Item() }
            (kept, removed) = (dictionary[1], dictionary[2])
            let copy = dictionary
            dictionary[2] = nil
            #expect(removed != nil)
            _ = consume copy
            #expect(removed == nil)
            #expect(kept != nil)
            _ = consume dictionary
        }
        #expect(kept == nil)
    }
}
