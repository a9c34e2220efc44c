import CBOR
import LoopCore
import LoopWire
import Testing

@Suite struct `Deltas of states` {
    struct Page: Codable, Equatable, Sendable {
        var title = ""
        var links: TrackedDictionary<Int, Int> = [:]
    }

    enum Phase: Codable, Equatable, Sendable {
        case closed
        case open(TrackedDictionary<String, Int>)
    }

    struct Site: Codable, Equatable, Sendable {
        var name = "a"
        var count = 0
        var pages: TrackedDictionary<String, Page> = [:]
        var ranks: TrackedDictionary<Int, Int>?
        var parts: [String: TrackedDictionary<Int, String>] = [:]
        var lists: [TrackedDictionary<Int, Int>] = []
        var sets: Set<TrackedDictionary<Int, Int>> = []
        var phase = Phase.closed
    }

    @Test(arguments: 1...20) func `made on the old state they give the new one, byte for byte`(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var here = Site()
        var there = here
        for step in 0..<60 {
            let base = try DeltaBase(of: here)
            for _ in 0..<Int.random(in: 0..<12, using: &random) { change(&here, &random) }
            let delta = try Delta.encode(since: base, to: here)
            // The other side has read its state from bytes, now and then again: it shares nothing with this one.
            if step % 7 == 0 { there = try CBOR.decode(Site.self, from: CBOR.encode(there)) }
            try Delta.apply(delta, to: &there)
            #expect(there == here, "seed \(seed), step \(step)")
            #expect(try CBOR.encode(there) == CBOR.encode(here), "seed \(seed), step \(step)")
        }
    }

    private func change(_ site: inout Site, _ random: inout SeededRandom) {
        let key = Int.random(in: 0..<40, using: &random)
        switch Int.random(in: 0..<13, using: &random) {
        case 0: site.name += "b"
        case 1: site.count += 1
        case 2..<5: site.pages["\(key)", default: Page()].title += "t"
        case 5: site.pages["\(key)"]?.links[key] = 1
        case 6: site.pages["\(key)"] = nil
        case 7: site.ranks = site.ranks == nil ? [1: 1] : key == 0 ? nil : site.ranks
        case 8: site.ranks?[key] = key
        case 9: site.parts["\(key % 4)", default: [:]][key] = "p"
        case 10: site.parts["\(key % 4)"] = key < 10 ? nil : [2: "new"]
        case 11: site.lists.append([key: key])
        default: site.sets = [[key: key], [2: 1, 1: 2]]
        }
    }

    @Test func `each of a row of states has the delta and the hash of the vector`() throws {
        var site = Site()
        var written: [String] = []
        func add(_ name: String, _ change: (inout Site) -> Void) throws {
            let base = try DeltaBase(of: site)
            change(&site)
            let (delta, state) = (try Delta.encode(since: base, to: site), try CBOR.encode(site))
            let hash = hexadecimal(StableHash.fnv1a(state))
            written.append("\(name); \(hexadecimal(delta)); \(hexadecimal(state)); \(hash)")
        }
        try add("nothing changes") { _ in }
        try add("what is not tracked changes") { $0.name = "b" }
        try add("entries are inserted, in their order") { site in
            for key in ["b", "a", "c", "d"] { site.pages[key] = Page(title: key) }
        }
        try add("an entry is updated in its place") { $0.pages["a"]?.title = "other" }
        try add("an entry is removed") { $0.pages["b"] = nil }
        try add("an entry is removed and inserted, and so is the last") { site in
            site.pages["a"] = nil
            site.pages["a"] = Page(title: "again")
        }
        try add("a dictionary in an entry changes") { $0.pages["c"]?.links[7] = -1 }
        try add("a dictionary in an entry changes again") { $0.pages["c"]?.links[-8] = 1 }
        try add("an optional dictionary is there") { $0.ranks = [1: 1, 300: 2, -1: 3] }
        try add("a number is a key") { $0.ranks?[300] = 4 }
        try add("dictionaries are in a map") { $0.parts = ["x": [1: "p", 2: "q"], "y": [1: "p"], "7": [1: "p"]] }
        try add("two of them change") { site in
            site.parts["x"]?[2] = "r"
            site.parts["7"]?[2] = "r"
            site.parts["y"] = nil
        }
        try add("dictionaries are in an array and in a set") { ($0.lists, $0.sets) = ([[1: 2], [:]], [[3: 4]]) }
        try add("the one in the array changes") { $0.lists[0][5] = 6 }
        try add("a dictionary is in a case") { $0.phase = .open(["a": 1, "b": 2, "c": 3]) }
        try add("a dictionary in a case changes") { site in
            guard case .open(var queue) = site.phase else { return }
            site.phase = .closed
            queue["b"] = nil
            site.phase = .open(queue)
        }
        try add("the optional one is gone, and others are empty") { site in
            (site.ranks, site.phase) = (nil, .open([:]))
            site.pages = [:]
        }
        try add("several change") { site in
            site.pages["e"] = Page(title: "e", links: [1: 2])
            site.count = -5
            site.lists = []
        }
        #expect(try vectors("deltas.txt") == written, "the lines are now:\n\(written.joined(separator: "\n"))")
    }

    @Test func `a dictionary itself can be the state`() throws {
        let old = TrackedDictionary((0..<1000).map { ($0, $0) })
        var new = old
        new[5] = 6
        var state = old
        let delta = try Delta.encode(since: DeltaBase(of: old), to: new)
        #expect(try CBOR.diagnose(delta) == "[[], [], [5, 6], []]")
        try Delta.apply(delta, to: &state)
        #expect(state == new)
    }

    @Test func `they are as large as the change, not as the state`() throws {
        var site = Site()
        for key in 0..<20_000 { site.pages["page \(key)"] = Page(title: "\(key)") }
        let base = try DeltaBase(of: site)
        site.pages["page 77"]?.title = "other"
        site.pages["page 78"] = nil
        site.pages["new"] = Page()
        #expect(try Delta.encode(since: base, to: site).count < 200)
        #expect(try Delta.encode(since: DeltaBase(of: site), to: site).count < 100)
    }

    @Test func `a delta to another state is refused, and leaves the state as it is`() throws {
        let old: TrackedDictionary = [1: 1, 2: 2, 3: 3, 4: 4]
        var new = old
        new[2] = nil
        new[1] = 0
        new[9] = 9
        let delta = try Delta.encode(since: DeltaBase(of: old), to: new)
        for other: TrackedDictionary in [[:], [1: 1, 3: 3], [2: 2], [1: 1, 2: 2, 9: 9]] {
            var state = other
            #expect(throws: WireError.self) { try Delta.apply(delta, to: &state) }
            #expect(state == other)
        }
    }

    @Test func `damaged and truncated deltas are errors, or give a state`() throws {
        var site = Site()
        for key in 0..<50 { site.pages["\(key)"] = Page(title: "\(key)") }
        let old = site
        site.pages["7"]?.title = "other"
        site.pages["8"] = nil
        site.pages["new"] = Page(links: [1: 2])
        site.parts["a"] = [1: "b"]
        let delta = try Delta.encode(since: DeltaBase(of: old), to: site)
        for length in delta.indices {
            var state = old
            #expect(throws: WireError.self) { try Delta.apply(Array(delta[..<length]), to: &state) }
            #expect(state == old)
        }
        var random = SeededRandom(seed: 1)
        for place in delta.indices {
            for bit in 0..<8 {
                var bytes = delta
                bytes[place] ^= 1 << bit
                if bit == 7, let other = bytes.indices.randomElement(using: &random) { bytes[other] &+= 1 }
                var state = old
                do { try Delta.apply(bytes, to: &state) } catch { #expect(state == old) }
                _ = try CBOR.encode(state)
            }
        }
        for bytes: [UInt8] in [[0x80], [0x81, 0xF6], [0x82, 0xF6, 1], [0x84, 0x80, 0x80, 0x81, 1, 0x80]] {
            var state: TrackedDictionary = [1: 1]
            _ = try? Delta.apply(bytes, to: &state)
            #expect(state == [:] || state == [1: 1])
        }
    }
}
