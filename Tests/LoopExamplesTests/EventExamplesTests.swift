import Foundation
import LoopCore
import NewLoop
import Testing

@testable import LoopExamples

/// `loopctl schema` knows the cases of events from examples alone.
@Suite struct `examples of events` {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Examples")

    private static let loops: [any LoopDefinition.Type] = [
        LinkCheck.self, Ledger.self, Movies.self, Favourites.self, Counter.self, SignIn.self, TrafficLight.self,
        Switch.self, Todo.self, TokenRefresh.self, Conform.self,
    ]

    @Test func `are there for every loop that is shipped`() {
        #expect(Set(Examples.all.map(\.name)) == Set(Self.loops.map { $0.name }))
    }

    @Test(
        arguments: [
            (LinkCheck.self, "LinkCheck/State/LinkCheckEvent"), (Ledger.self, "Ledger/Ledger"),
            (Movies.self, "Movies/Movies+State"), (Favourites.self, "Favourites/Favourites"),
            (Counter.self, "Counter/Counter"), (SignIn.self, "SignIn/SignIn"),
            (TrafficLight.self, "TrafficLight/TrafficLight"), (Switch.self, "Switch/Switch"), (Todo.self, "Todo/Todo"),
            (TokenRefresh.self, "TokenRefresh/TokenRefresh"), (Conform.self, "Conform/Conform"),
            (NewLoop.self, "../NewLoop/Sources/NewLoop/NewLoop"),
        ] as [(any LoopDefinition.Type, String)])
    func `have every case`(_ definition: any LoopDefinition.Type, _ file: String) throws {
        let given = Set(try Self.names(definition))
        #expect(try given == Self.cases(in: "LoopExamples/\(file).swift"))
    }

    @Test func `have every case of a part`() throws {
        let given = Set(MovieCard.examples.map { Self.name($0) })
        #expect(try given == Self.cases(in: "LoopExamples/Favourites/MovieCard.swift"))
    }

    private static func names<Definition: LoopDefinition>(_: Definition.Type) throws -> [String] {
        Definition.examples.map { name($0) }
    }

    private static func name<Event>(_ event: Event) -> String { String("\(event)".prefix { $0 != "(" }) }

    /// The cases of `enum Event` in a source file.
    private static func cases(in file: String) throws -> Set<String> {
        let text = try String(contentsOf: folder.appending(path: file), encoding: .utf8)
        let body = try #require(
            text.firstMatch(of: #/\n    (?:public|package) enum Event: [^\n]*\n((?:        [^\n]*\n|\n)*)    \}\n/#))
        let lines = body.1.split(separator: "\n").filter { $0.hasPrefix("        case ") }
        // A comma between cases is outside of parentheses.
        return Set(
            lines.flatMap { line in
                line.dropFirst(13).replacing(#/\([^)]*\)/#, with: "").split(separator: ", ").map(String.init)
            })
    }
}
