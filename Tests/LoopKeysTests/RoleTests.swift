import Foundation
import LoopKeys
import Testing

@Suite struct `A role` {
    /// What the page on security says.
    private static let table: [Role: Set<Verb>] = [
        .worker: [.readStatus, .readSchema, .join, .runEffects],
        .observer: [.readStatus, .join, .followUpdates, .fetchStates, .followTransitions],
        .sender: [.readStatus, .join, .sendEvents, .explainEvents],
        .admin: [.readStatus, .readHistory, .readSchema, .retryEffects, .quarantine, .schedules, .trim, .stepDown],
        .reducer: [],
    ]

    @Test(arguments: Role.allCases) func `allows what is listed, and nothing else`(role: Role) throws {
        let listed = try #require(Self.table[role])
        for verb in Verb.allCases { #expect(role.allows(verb) == listed.contains(verb), "\(role) \(verb)") }
    }

    @Test func `allows alone what it is for`() {
        for verb in Verb.allCases where ![.readStatus, .readSchema, .join].contains(verb) {
            #expect(Role.allCases.filter { $0.allows(verb) }.count == 1, "\(verb)")
        }
    }

    @Test func `is a word in documents`() throws {
        let json = try JSONEncoder().encode(Role.allCases)
        #expect(String(decoding: json, as: UTF8.self) == #"["worker","observer","sender","admin","reducer"]"#)
        #expect(try JSONDecoder().decode([Role].self, from: json) == Role.allCases)
        for role in Role.allCases { #expect(try Role(parsing: role.rawValue) == role) }
    }

    @Test func `that is unknown is answered with those that are known`() throws {
        let roles = "; a role is worker, observer, sender, admin or reducer"
        for (text, shown) in [
            ("workers", "workers"), ("Admin", "Admin"), ("", ""), ("a\u{1B}[2Jb", #"a\u{1B}[2Jb"#),
            (String(repeating: "x", count: 70), String(repeating: "x", count: 64) + "…"),
        ] {
            let error = #expect(throws: UnknownRole.self) { try Role(parsing: text) }
            #expect(error?.description == "'\(shown)' is no role" + roles)
        }
        let error = #expect(throws: DecodingError.self) {
            try JSONDecoder().decode([Role].self, from: Data(#"["root"]"#.utf8))
        }
        guard case .dataCorrupted(let context) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(context.debugDescription == "'root' is no role" + roles)
    }
}
