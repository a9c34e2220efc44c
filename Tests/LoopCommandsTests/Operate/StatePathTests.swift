import LoopNode
import Testing

@testable import LoopCommands

@Suite struct `A path in a state` {
    @Test(arguments: [
        ("a", ["a"]), ("orders.o-17.items[0]", ["orders", "o-17", "items", "0"]), ("[3].x", ["3", "x"]),
        (#"names["a.b"].c"#, ["names", "a.b", "c"]), (#"["a\"]\\"]"#, [#"a"]\"#]), ("a b.é", ["a b", "é"]),
        ("a[1][2]", ["a", "1", "2"]),
    ])
    func `has keys and numbers`(text: String, steps: [String]) { #expect(StatePath.steps(of: text) == steps) }

    @Test(arguments: ["", ".", "a.", ".a", "a..b", "a[", "a[x]", "a[-1]", "a[1", #"a["x]"#, #"a["x"y]"#, "a[1]b"])
    func `is nothing else`(text: String) {
        #expect(StatePath.steps(of: text) == nil, "\(text)")
    }
}
