import LoopCluster
import LoopCore
import LoopWire
import Testing

@Suite struct `An event in a few words` {
    private func text(_ event: Lamps.Event, first count: Int = .max) throws -> String {
        let bytes = try CBORCoder().encode(event)
        return EventText.of(bytes.prefix(count), of: bytes.count)
    }

    @Test func `is its case with its value, cut where it is long`() throws {
        #expect(try text(.light("a", 1)) == "{\"light\":{\"_0\":\"a\",\"_1\":1}}")
        let long = try text(.darken(String(repeating: "x", count: 200)))
        #expect(long.count == 80 && long.hasPrefix("{\"darken\":") && long.hasSuffix("x…"))
    }

    @Test func `is its case alone where not all of it is there`() throws {
        #expect(try text(.darken(String(repeating: "x", count: 200)), first: 64) == "{\"darken\":…}")
    }

    @Test func `is words, or bytes, where it is no event`() {
        #expect(EventText.of(Array("dark and cold".utf8), of: 13) == "\"dark and cold\"")
        #expect(EventText.of([0xff, 0x00, 0x1b], of: 3) == "3 bytes: ff001b")
        #expect(EventText.of([], of: 0) == "\"\"")
    }

    @Test func `is what a crash note keeps of it`() throws {
        let reducer = try MinedReducer()
        var bench = reducer.bench
        let session = bench.join(client, capacity: 0)
        _ = try bench.send(session, from: 1, .light("abcdefghijklmno", 12_345))
        #expect(reducer.memory.note.eventText == "{\"light\":{\"_0\":\"abcdefghijklmno\",\"_1\":12345}}")
    }
}
