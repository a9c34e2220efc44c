/// One reader of bytes that come from outside, and what must hold whatever the bytes are.
///
/// libFuzzer runs it on inputs that it makes (`make fuzz`), the tests on the files of the corpus. Besides what `check` says:
/// nothing traps, nothing takes longer than a few seconds, and memory stays within the ``AllocationBudget``.
package struct FuzzTarget: Sendable {
    /// Names the folder of its corpus.
    package let name: String
    package let budget: AllocationBudget
    let check: @Sendable ([UInt8]) throws -> Void

    init(
        _ name: String, budget: AllocationBudget = AllocationBudget(),
        check: @escaping @Sendable ([UInt8]) throws -> Void
    ) {
        self.name = name
        self.budget = budget
        self.check = check
    }

    /// - Throws: `FuzzFinding`, or what an operation throws that must not fail.
    package func run(_ bytes: [UInt8]) throws { try check(bytes) }

    /// Every target, in the order in which they are run.
    package static var all: [FuzzTarget] {
        [
            .cborValues, .cborText, .json, .pages, .peerMessages, .batches, .reducerMessages, .deltas, .pieces,
            .documents,
            .records, .replay, .snapshots, .notes, .logs, .rows, .files, .outbox, .certificates, .keyFolders, .reducer,
            .peer, .observer,
        ]
    }
}

/// How much memory reading an input may take at most at one time, besides what stays for the next one.
///
/// It is in proportion to the input's bytes: a length that is only announced commands none.
package struct AllocationBudget: Equatable, Sendable {
    /// Bytes for an input of any size.
    package var fixed: Int
    /// Bytes for each byte of the input.
    package var perByte: Int

    init(fixed: Int = 64 << 10, perByte: Int = 256) {
        self.fixed = fixed
        self.perByte = perByte
    }

    package func bytes(forInputOf count: Int) -> Int { fixed + perByte * count }
}

/// Something that must hold does not.
package struct FuzzFinding: Error, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}

func require(_ condition: Bool, _ what: @autoclosure () throws -> String) throws {
    if !condition { throw FuzzFinding(try what()) }
}
