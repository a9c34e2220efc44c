import CBOR
import Testing

// The coder remembers what it has met of a type of keys, and uses containers again. None of that may show.

private struct Sparse: Codable, Equatable {
    var zebra: Int?
    var a: Int?
    var middle: String?
    var bb: [Int]?
    var last = 0
}

/// Two keys of one name, as a careless `stringValue` can make them.
private struct Twins: Codable, Equatable {
    var left = 1
    var right = 2
    var other = 3

    enum CodingKeys: CodingKey {
        case left, right, other
        var stringValue: String { self == .other ? "other" : "twin" }
        init?(stringValue: String) { self = stringValue == "other" ? .other : .left }
        var intValue: Int? { nil }
        init?(intValue: Int) { nil }
    }
}

private struct Tree: Codable, Equatable {
    var name: String
    var children: [Tree]
    var mark: Int?

    static func of(depth: Int) -> Tree {
        Tree(
            name: "node \(depth)", children: depth == 0 ? [] : [of(depth: depth - 1), of(depth: depth - 1)],
            mark: depth % 2 == 0 ? depth : nil)
    }
}

/// More keys than are remembered.
private enum ManyKeys: CodingKey, CaseIterable {
    case k00, k01, k02, k03, k04, k05, k06, k07, k08, k09, k10, k11, k12, k13, k14, k15, k16, k17, k18, k19
    case k20, k21, k22, k23, k24, k25, k26, k27, k28, k29, k30, k31, k32, k33, k34, k35, k36, k37, k38, k39
    case k40, k41, k42, k43, k44, k45, k46, k47, k48, k49, k50, k51, k52, k53, k54, k55, k56, k57, k58, k59
    case k60, k61, k62, k63, k64, k65, k66, k67, k68, k69, aKeyOfMoreThanTwentyThreeBytes, z
}

private struct Many: Codable, Equatable {
    var values: [Int: Int]

    init(_ values: [Int: Int]) { self.values = values }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: ManyKeys.self)
        for (number, key) in ManyKeys.allCases.enumerated().reversed() {
            try container.encodeIfPresent(values[number], forKey: key)
        }
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: ManyKeys.self)
        values = [:]
        for (number, key) in ManyKeys.allCases.enumerated() {
            values[number] = try container.decodeIfPresent(Int.self, forKey: key)
        }
    }
}

/// Bytes of which some are written as text.
private func bytes(_ parts: [Any]) -> [UInt8] {
    parts.flatMap { part in (part as? Int).map { [UInt8($0)] } ?? Array((part as? String ?? "").utf8) }
}

@Suite struct `G8 known keys do not show` {
    @Test func `whatever was coded before, the same value has the same bytes`() throws {
        var random = SeededGenerator(seed: 5)
        for _ in 0..<300 {
            func maybe<T>(_ value: T) -> T? { Bool.random(using: &random) ? value : nil }
            let value = Sparse(zebra: maybe(1), a: maybe(-2), middle: maybe("m"), bb: maybe([3, 4]), last: 9)
            let bytes = try CBOR.encode(value)
            var parts: [String] = []
            if value.a != nil { parts.append(#""a": -2"#) }
            if value.bb != nil { parts.append(#""bb": [3, 4]"#) }
            parts.append(#""last": 9"#)
            if value.zebra != nil { parts.append(#""zebra": 1"#) }
            if value.middle != nil { parts.append(#""middle": "m""#) }
            #expect(try CBOR.diagnose(bytes) == "{\(parts.joined(separator: ", "))}")
            #expect(try CBOR.decode(Sparse.self, from: bytes) == value)
        }
    }

    @Test func `keys of one name are one key, of which the last value counts`() throws {
        for _ in 0..<3 {
            let bytes = try CBOR.encode([Twins(), Twins()])
            #expect(try CBOR.diagnose(bytes) == #"[{"twin": 2, "other": 3}, {"twin": 2, "other": 3}]"#)
            let twins = try CBOR.decode([Twins].self, from: bytes)
            #expect(twins == [Twins(left: 2, right: 2), Twins(left: 2, right: 2)])
        }
    }

    @Test func `values stand in values of their own type`() throws {
        let tree = Tree.of(depth: 9)
        let bytes = try CBOR.encode(tree)
        #expect(try CBOR.decode(Tree.self, from: bytes) == tree)
        #expect(try CBOR.encode(CBOR.decode(Tree.self, from: bytes)) == bytes)
    }

    @Test func `more keys than are remembered, and long ones`() throws {
        for count in [1, 3, 63, 64, 65, 72] {
            let value = Many(Dictionary(uniqueKeysWithValues: (0..<count).map { (71 - $0, $0) }))
            let bytes = try CBOR.encode(value)
            #expect(try CBOR.decode(Many.self, from: bytes) == value)
            let all = try CBOR.decode([String: Int].self, from: bytes)
            #expect(all.count == count)
            #expect(try CBOR.encode(all) == bytes)
        }
    }

    @Test func `a map is read in any order and any form of its keys`() throws {
        let value = Sparse(zebra: 1, a: 2, last: 3)
        #expect(try CBOR.decode(Sparse.self, from: CBOR.encode(value)) == value)
        // {"zebra": 1, "a": 2, "last": 3}
        let order = bytes([0xA3, 0x65, "zebra", 1, 0x61, "a", 2, 0x64, "last", 3])
        #expect(try CBOR.decode(Sparse.self, from: order) == value)
        // That map with "zebra" tagged, the head of "a" in two bytes, and "last" in chunks.
        let long = bytes([0xA3, 0xC6, 0x65, "zebra", 1, 0x78, 0x01, "a", 2, 0x7F, 0x62, "la", 0x62, "st", 0xFF, 3])
        #expect(try CBOR.decode(Sparse.self, from: long) == value)
        // A key that is no text, and one that is not known, in front.
        let more = bytes([0xA4, 0x05, 0x80, 0x63, "new", 0xA0, 0x64, "last", 3, 0x61, "a", 2])
        #expect(try CBOR.decode(Sparse.self, from: more) == Sparse(a: 2, last: 3))
    }

    @Test func `containers that are kept keep their own map`() throws {
        /// Reads a list of maps, all of whose containers are open at once.
        struct Kept: Decodable {
            var numbers: [Int] = []
            enum CodingKeys: CodingKey { case number, absent }
            init(from decoder: any Decoder) throws {
                var list = try decoder.unkeyedContainer()
                var kept: [KeyedDecodingContainer<CodingKeys>] = []
                while !list.isAtEnd { kept.append(try list.nestedContainer(keyedBy: CodingKeys.self)) }
                for container in kept.reversed() {
                    numbers.append(try container.decode(Int.self, forKey: .number))
                    #expect(!container.contains(.absent))
                }
            }
        }
        let bytes = try CBOR.encode((0..<12).map { ["number": $0] })
        for _ in 0..<3 {
            #expect(try CBOR.decode(Kept.self, from: bytes).numbers == Array((0..<12).reversed()))
        }
    }

    @Test func `containers that are kept write to their own node`() throws {
        struct Kept: Encodable {
            enum CodingKeys: CodingKey { case number, last }
            func encode(to encoder: any Encoder) throws {
                var list = encoder.unkeyedContainer()
                var kept = (0..<12).map { _ in list.nestedContainer(keyedBy: CodingKeys.self) }
                for index in kept.indices.reversed() { try kept[index].encode(true, forKey: .last) }
                for index in kept.indices { try kept[index].encode(index, forKey: .number) }
            }
        }
        let bytes = try CBOR.encode((0..<12).map { _ in Kept() })
        let one = (0..<12).map { #"{"last": true, "number": \#($0)}"# }.joined(separator: ", ")
        #expect(try CBOR.diagnose(bytes) == "[" + Array(repeating: "[\(one)]", count: 12).joined(separator: ", ") + "]")
    }

    @Test func `a container that outlives its document finds nothing`() throws {
        final class Keeper: @unchecked Sendable { var kept: KeyedDecodingContainer<Escape.CodingKeys>? }
        struct Escape: Decodable {
            enum CodingKeys: CodingKey { case number }
            init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: CodingKeys.self)
                _ = try container.decode(Int.self, forKey: .number)
                (decoder.userInfo[.keeper] as? Keeper)?.kept = container
            }
        }
        let keeper = Keeper()
        _ = try CBOR.decode(Escape.self, from: CBOR.encode(["number": 1]), userInfo: [.keeper: keeper])
        let kept = try #require(keeper.kept)
        _ = try CBOR.decode([Escape].self, from: CBOR.encode([["number": 2]]))
        #expect(throws: (any Error).self) { try kept.decode(Int.self, forKey: .number) }
        #expect(!kept.contains(.number))
        #expect(kept.allKeys.isEmpty)
    }

    @Test func `an array whose elements are far larger than their bytes is read all the same`() throws {
        struct Wide: Codable, Equatable {
            var a: String?, b: String?, c: String?, d: String?, e: Int?, f: [Int]?
        }
        let bytes = [0x98, 200] + [UInt8](repeating: 0xA0, count: 200)
        #expect(try CBOR.decode([Wide].self, from: bytes) == Array(repeating: Wide(), count: 200))
        #expect(throws: WireError.self) { try CBOR.decode([Wide].self, from: bytes.dropLast() + [0]) }
    }

    @Test func `threads do not meet`() async throws {
        let tree = Tree.of(depth: 5)
        let bytes = try CBOR.encode(tree)
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    (0..<50).allSatisfy { _ in
                        (try? CBOR.encode(tree)) == bytes && (try? CBOR.decode(Tree.self, from: bytes)) == tree
                    }
                }
            }
            for await isSame in group { #expect(isSame) }
        }
    }
}

extension CodingUserInfoKey {
    fileprivate static let keeper = CodingUserInfoKey(rawValue: "keeper")!
}
