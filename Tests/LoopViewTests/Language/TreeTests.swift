import LoopCore
import LoopView
import Testing

@Suite struct `View trees` {
    private struct Page: View {
        var hasError = false
        var isLong = false
        var names: [String] = []

        var body: [Element] {
            Heading("Page")
            if hasError { Text("wrong").tone(.bad) }
            TextField("Name", text: .constant("n"))
            if isLong {
                Text("long")
            } else {
                Text("short")
            }
            List(names, id: \.self) { name in
                Row {
                    Text(name)
                    Button("Drop", action: {})
                }
            }
            for number in 0..<2 { Text("\(number)") }
        }
    }

    @Test func `a view is shown as text`() {
        #expect(
            Page(hasError: true, names: ["a", "b"]).plainText() == """
                # Page
                wrong
                Name: [n]
                short
                - a  [ Drop ]
                - b  [ Drop ]
                0
                1
                """)
    }

    @Test func `what comes and goes before an element does not change its name`() {
        #expect(
            ViewTree(Page(hasError: true)).field("Name") == ViewTree(Page(hasError: false)).field("Name"))
        #expect(ViewTree(Page()).first { $0.kind == .text("1") } == ViewTree(Page()).first { $0.kind == .text("1") })
    }

    @Test func `the branches of a condition are different elements`() {
        let short = ViewTree(Page()).first { $0.kind == .text("short") }
        let long = ViewTree(Page(isLong: true)).first { $0.kind == .text("long") }
        #expect(short != nil && long != nil && short != long)
    }

    @Test func `entries are named by their identity, wherever they stand`() throws {
        let tree = ViewTree(Page(names: ["a", "b"]))
        let moved = ViewTree(Page(names: ["x", "b", "a"]))
        for name in ["a", "b"] {
            let id = try #require(tree.first { $0.kind == .text(name) })
            #expect(moved.first { $0.kind == .text(name) } == id)
        }
    }

    @Test func `names are unique, also where identities are not`() {
        var ids: Set<ElementID> = []
        var count = 0
        for (id, _) in ViewTree(Page(names: ["a", "a", "a", "a~2", "/"])).elements {
            ids.insert(id)
            count += 1
        }
        #expect(ids.count == count)
    }

    @Test func `every name leads to its element`() {
        let tree = ViewTree(Page(hasError: true, names: ["a/b", "", "ö %.~#"]))
        for (id, element) in tree.elements { #expect(tree.element(id) == element) }
        #expect(tree.element(ElementID(path: "/99/1")) == nil)
        #expect(tree.element(ElementID(path: "x")) == tree.root)
    }

    @Test func `actions are performed by the element of that name`() throws {
        let log = Log<Counter.Event>()
        let context = Context<Counter, Counter.Event>(state: Counter(isOn: true)) { log.add($0) }
        let tree = ViewTree(
            Group {
                Button("Add", action: context.action(for: .add(1)))
                TextField("Name", text: context.binding(for: \.name, event: { .rename($0) })) {
                    context.send(event: .add(9))
                }
                Toggle("On", isOn: context.binding(for: \.isOn, event: { .flip($0) }))
                Button("Off", action: context.action(for: .add(2))).disabled()
                Row { Button("In", action: context.action(for: .add(3))) }.disabled(true)
            })
        #expect(tree.perform(.press(try #require(tree.button("Add")))))
        #expect(tree.perform(.write(try #require(tree.field("Name")), "x")))
        #expect(tree.perform(.submit(try #require(tree.field("Name")))))
        #expect(tree.perform(.press(try #require(tree.toggle("On")))))
        #expect(log.entries == [.add(1), .rename("x"), .add(9), .flip(false)])
        #expect(!tree.perform(.press(try #require(tree.button("Off")))))
        #expect(!tree.perform(.press(try #require(tree.button("In")))))
        #expect(!tree.perform(.press(ElementID(path: "/nothing"))))
        #expect(!tree.perform(.write(try #require(tree.button("Add")), "x")))
        #expect(!tree.perform(.press(try #require(tree.field("Name")))))
        #expect(!tree.perform(.submit(try #require(tree.button("Add")))))
        #expect(log.entries.count == 4)
    }

    @Test func `trees are equal when they show the same`() {
        #expect(ViewTree(Page()) == ViewTree(Page()))
        #expect(ViewTree(Page()) != ViewTree(Page(hasError: true)))
        #expect(ViewTree(Text("a").strong()) != ViewTree(Text("a")))
        #expect(ViewTree(Text("a")) != ViewTree(Text("a").id("x")))
        #expect(ViewTree(Button("b", action: {})) == ViewTree(Button("b", action: { _ = 1 })))
    }

    @Test func `a group named as one is shown in its place`() {
        let tree = ViewTree(
            Group {
                Group {
                    Text("a")
                    Text("b")
                }.id("both")
                Text("c")
            })
        #expect(tree.root.children.count == 3)
        #expect(tree.plainText() == "a\nb\nc")
    }

    @Test(arguments: [
        ("https://x.org/a?b#c", true), ("http://x", true), ("mailto:a@b", true), ("/path:1", true), ("a/b", true),
        ("#part", true), ("?q=a:b", true), ("", true), ("HTTPS://X", true), ("javascript:alert(1)", false),
        ("JavaScript:x", false), (" javascript:x", false), ("java\nscript:x", false), ("java\tscript:x", false),
        ("data:text/html,x", false), ("vbscript:x", false), ("\u{1}javascript:x", false), (":x", false),
    ])
    func `a link leads to pages only`(address: String, isLink: Bool) {
        #expect((Link("l", to: address).body.first?.kind == .link("l", address: address)) == isLink)
    }

    @Test func `a window of a long list shows its rows, and asks for others`() throws {
        let moves = Log<Int>()
        let tree = ViewTree(
            WindowList(count: 1000, first: 10, onMove: { moves.add($0) }) {
                for row in 10..<12 { Text("row \(row)").id(row) }
            })
        #expect(tree.plainText() == "- row 10\n- row 11")
        let list = try #require(
            tree.first { if case .window(let window) = $0.kind { window.first == 10 } else { false } })
        #expect(tree.perform(.write(list, "500")))
        for text in ["-1", "x", ""] { tree.perform(.write(list, text)) }
        #expect(moves.entries == [500])
    }

    @Test func `the address of a page shows nothing, and is written by a browser`() throws {
        let written = Log<String>()
        let tree = ViewTree(PageAddress(Binding(get: { "seq/1" }, set: { written.add($0) })))
        #expect(tree.plainText() == "")
        tree.perform(.write(try #require(tree.first { $0.kind == .address("seq/1") }), "seq/2"))
        #expect(written.entries == ["seq/2"])
    }
}
