import Foundation
import LoopCore
import LoopView
import Testing

@testable import LoopApp

@Suite struct `Parts of a page that change` {
    private struct Page: View {
        var count = 0
        var names = ["a", "b"]
        var isOpen = false

        var body: [Element] {
            Text("count \(count)")
            Row {
                Text("fixed")
                Text("twice \(count * 2)")
            }
            if isOpen { Text("open") }
            List(names, id: \.self) { Text($0) }
            Button("Drop", action: { _ = count })
        }
    }

    private func ids(_ old: Page, _ new: Page) -> [String] {
        Patch.patches(from: ViewTree(old), to: ViewTree(new)).map(\.id)
    }

    @Test func `are the smallest ones`() {
        #expect(ids(Page(), Page()) == [])
        #expect(ids(Page(), Page(count: 1)) == ["v/0", "v/1/1"])
        #expect(ids(Page(), Page(names: ["a", "b", "c"])) == ["v/3"])
        #expect(ids(Page(), Page(names: ["b", "a"])) == ["v/3"])
        #expect(ids(Page(), Page(isOpen: true)) == ["v"])
        let patches = Patch.patches(from: ViewTree(Page()), to: ViewTree(Page(count: 1)))
        #expect(patches.map(\.html) == ["<p id=\"v/0\">count 1</p>", "<p id=\"v/1/1\">twice 2</p>"])
    }

    @Test func `go out as one line of JSON, whatever is in them`() throws {
        let text = "\"quoted\" \\ back\nline\u{2028}sep \u{1}\u{7F} <&> 日本 👩‍👧"
        let event = PageEvent.parts([Patch(Element(.text(text)), .root)], revision: "r-7")
        let lines = event.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count == 4)
        #expect(lines[0] == "id: r-7")
        #expect(lines[1].hasPrefix("data: "))
        let json = try JSONSerialization.jsonObject(with: Data(lines[1].dropFirst(6).utf8)) as? [String: [[String]]]
        let html = "<p id=\"v\">&quot;quoted&quot; \\ back\nline\u{2028}sep \u{FFFD}\u{FFFD} &lt;&amp;&gt; 日本 👩‍👧</p>"
        #expect(json == ["parts": [["v", html]]])
    }
}
