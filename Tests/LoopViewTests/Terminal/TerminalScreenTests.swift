import LoopCore
import LoopView
import Testing

@Suite struct `Terminal screen` {
    /// A screen, the terminal that shows it, and its view.
    private struct Bench {
        let view: Group
        var screen: TerminalScreen
        var terminal: Emulator

        init(columns: Int = 40, rows: Int = 10, @ViewBuilder _ content: @escaping @Sendable () -> [Element]) {
            view = Group(content)
            let size = TerminalScreen.Size(columns: columns, rows: rows)
            screen = TerminalScreen(size: size)
            terminal = Emulator(size)
            terminal.write(screen.begin())
            show()
        }

        /// Shows the view as it is now, and does what the screen asks for.
        mutating func show() { take(screen.show(ViewTree(view))) }

        mutating func press(_ keys: Key...) { for key in keys { take(screen.press(key)) } }

        mutating func type(_ text: String) { for character in text { take(screen.press(.character(character))) } }

        private mutating func take(_ reaction: TerminalScreen.Reaction) {
            terminal.write(reaction.text)
            for action in reaction.actions { screen.tree.perform(action) }
        }

        /// What the terminal shows, without the row of hints.
        var text: String {
            var rows = terminal.text.split(separator: "\n", omittingEmptySubsequences: false)
            rows.removeLast()
            while rows.last?.isEmpty == true { rows.removeLast() }
            return rows.joined(separator: "\n")
        }
    }

    @Test func `keys move the focus, press, and show what follows`() {
        let store = Counter.store()
        var bench = Bench {
            Heading("Counter")
            Widget(viewModel: store) { context in
                Text("count \(context.count)")
                Row {
                    Button("Less", action: context.action(for: .add(-1)))
                    Button("More", action: context.action(for: .add(1)))
                    Button("Not", action: context.action(for: .add(100))).disabled()
                }
                Toggle("On", isOn: context.binding(for: \.isOn, event: { .flip($0) }))
            }
        }
        #expect(bench.text == "Counter\ncount 0\n[ Less ]  [ More ]  ( Not )\n[ ] On")
        bench.press(.enter)
        bench.press(.tab, .enter, .character(" "), .enter)
        bench.press(.down, .enter)
        bench.show()
        #expect(bench.text == "Counter\ncount 2\n[ Less ]  [ More ]  ( Not )\n[x] On")
        bench.press(.tab, .enter, .backTab, .enter)
        bench.show()
        #expect(bench.text == "Counter\ncount 1\n[ Less ]  [ More ]  ( Not )\n[ ] On")
        #expect(bench.terminal.unknown == [])
    }

    @Test func `only lines that have changed are drawn`() {
        let store = Counter.store()
        var bench = Bench {
            Text("above")
            Widget(viewModel: store) { Text("count \($0.count)") }
            Text("below")
        }
        bench.terminal.written = []
        bench.show()
        #expect(bench.terminal.written == [])
        store.send(event: .add(7))
        bench.show()
        #expect(bench.terminal.written == [1])
        #expect(bench.text == "above\ncount 7\nbelow")
        store.send(event: .add(1))
        #expect(bench.screen.show(ViewTree(bench.view)).text == "\u{1B}[?25l\u{1B}[2;1Hcount 8\u{1B}[K")
    }

    @Test func `typing edits the field, shows at once, and is sent change by change`() {
        let store = Counter.store()
        let log = Log<Counter.Event>()
        var bench = Bench {
            Widget(viewModel: store) { context in
                TextField(
                    "Name",
                    text: context.binding(
                        for: \.name,
                        event: { name in
                            log.add(.rename(name))
                            return .rename(name)
                        }),
                    onSubmit: { log.add(.close) })
            }
        }
        bench.type("Bo")
        #expect(bench.text == "Name: [Bo                      ]")
        #expect(bench.terminal.cursor == (0, 9))
        #expect(bench.terminal.isCursorShown)
        // The loop is behind: what was typed stays.
        bench.press(.left, .backspace)
        bench.type("Zö日")
        bench.show()
        #expect(bench.text == "Name: [Zö日o                   ]")
        #expect(bench.terminal.cursor == (0, 11))
        bench.press(.home, .delete, .end, .control("w"), .enter)
        #expect(
            log.entries == ["B", "Bo", "o", "Zo", "Zöo", "Zö日o", "ö日o", ""].map { .rename($0) } + [.close])
        bench.show()
        #expect(store.state.name == "")
        #expect(bench.terminal.cursor == (0, 7))
    }

    @Test func `what the loop makes of a text is shown`() {
        let store = Counter.store()
        var bench = Bench {
            Widget(viewModel: store) { context in
                TextField("Name", text: context.binding(for: \.name, event: { .rename($0.uppercased()) }))
            }
        }
        bench.type("a")
        #expect(bench.text.hasPrefix("Name: [a "))
        bench.show()
        #expect(bench.text.hasPrefix("Name: [A "))
        bench.type("b")
        bench.show()
        #expect(bench.text.hasPrefix("Name: [AB "))
        store.send(event: .rename(""))
        bench.show()
        #expect(bench.text.hasPrefix("Name: [  "))
        #expect(bench.terminal.cursor == (0, 7))
    }

    @Test func `a secret is not shown`() {
        var bench = Bench { TextField("Word", text: .constant(""), prompt: "8 letters", isSecret: true) }
        #expect(bench.text.hasPrefix("Word: [8 letters"))
        #expect(bench.terminal.cursor == (0, 7))
        bench.type("日bc")
        #expect(bench.text.hasPrefix("Word: [•••  "))
        #expect(bench.terminal.cursor == (0, 10))
    }

    @Test func `a text that is longer than its field shows its end`() {
        var bench = Bench(columns: 20) { TextField("N", text: .constant("")) }
        bench.type("abcdefghijklmnopqrstuvwxyz")
        #expect(bench.text == "N: [mnopqrstuvwxyz" + "]" || bench.text == "N: [lmnopqrstuvwxyz]")
        #expect(bench.terminal.cursor.column == 19)
    }

    @Test func `the focus stays on its element, and passes to the next one where that is gone`() {
        let store = Counter.store(Counter(count: 3))
        var bench = Bench {
            Widget(viewModel: store) { context in
                if !context.name.isEmpty { Text(context.name) }
                List(0..<context.count, id: \.self) { number in
                    Button("b\(number)", action: context.action(for: .rename("\(number)")))
                }
            }
        }
        bench.press(.down, .down, .enter)
        bench.show()
        #expect(bench.text.hasPrefix("2\n"))
        store.send(event: .add(-1))
        bench.show()
        bench.press(.enter)
        bench.show()
        #expect(bench.text.hasPrefix("1\n"))
        store.send(event: .add(-2))
        bench.show()
        #expect(bench.screen.focus == nil)
        store.send(event: .add(1))
        bench.show()
        #expect(bench.screen.focus == bench.screen.tree.button("b0"))
    }

    @Test func `long pages scroll with the focus and by keys`() {
        var bench = Bench(rows: 5) {
            List(0..<20, id: \.self) { number in
                if number % 10 == 5 { Button("b\(number)", action: {}) } else { Text("t\(number)") }
            }
        }
        #expect(bench.text == "• t2\n• t3\n• t4\n• [ b5 ]" || bench.text == "• t0\n• t1\n• t2\n• t3")
        bench.press(.tab)
        #expect(bench.text.hasSuffix("• [ b15 ]"))
        bench.press(.pageDown)
        #expect(bench.text.hasPrefix("• [ b15 ]"))
        bench.press(.end)
        #expect(bench.text.hasSuffix("• t19"))
        bench.press(.home)
        #expect(bench.text.hasPrefix("• t0"))
        bench.press(.up)
        #expect(bench.screen.focus == bench.screen.tree.button("b5"))
        #expect(bench.terminal.text.hasSuffix("of 20"))
    }

    @Test func `a button that is pressed when seen is pressed once for each that appears`() {
        let store = Counter.store(Counter(count: 8))
        var bench = Bench(rows: 5) {
            Widget(viewModel: store) { context in
                for number in 0..<context.count { Text("t\(number)") }
                Button("More", action: context.action(for: .add(8))).pressedWhenSeen().id("after \(context.count)")
            }
        }
        // The first button has the focus, and so is in sight.
        #expect(store.state.count == 16)
        bench.press(.home)
        bench.show()
        #expect(store.state.count == 16)
        bench.show()
        #expect(store.state.count == 16)
        bench.press(.end)
        #expect(store.state.count == 24)
        bench.press(.up, .down)
        #expect(store.state.count == 24)
    }

    @Test func `another size draws everything again`() {
        var bench = Bench { Text("one two three") }
        let reaction = bench.screen.resize(.init(columns: 8, rows: 4))
        var small = Emulator(.init(columns: 8, rows: 4))
        small.write(reaction.text)
        #expect(small.text.hasPrefix("one two\nthree\n\n"))
    }

    @Test func `leaving gives the terminal back`() {
        var bench = Bench { TextField("N", text: .constant("")) }
        #expect(bench.terminal.isOtherScreen)
        #expect(!bench.screen.press(.character("q")).isEnd)
        #expect(bench.screen.press(.control("c")).isEnd)
        bench.terminal.write(TerminalScreen.restoring)
        #expect(!bench.terminal.isOtherScreen)
        #expect(bench.terminal.isCursorShown)
        var quiet = Bench { Text("nothing to press") }
        #expect(quiet.screen.press(.character("q")).isEnd)
    }

    @Test func `colours are left out where there are none`() {
        var screen = TerminalScreen(size: .init(columns: 20, rows: 3), hasColours: false)
        let view = Group {
            Text("bad").tone(.bad)
            Text("strong").strong()
        }
        let text = screen.show(ViewTree(view)).text
        #expect(text.contains("\u{1B}[1;1Hbad\u{1B}[K"))
        #expect(text.contains("\u{1B}[1mstrong\u{1B}[0m"))
        var colourful = TerminalScreen(size: .init(columns: 20, rows: 3))
        #expect(colourful.show(ViewTree(view)).text.contains("\u{1B}[31mbad\u{1B}[0m"))
    }

    @Test(arguments: 0..<6)
    func `whatever is shown and pressed, the terminal shows what a fresh one would`(seed: UInt64) {
        let store = Counter.store(Counter(count: 5))
        let texts = ["a", "日本", "long text that has to be broken somewhere", "\u{1B}[2J", "e\u{301}", ""]
        var bench = Bench(columns: 24, rows: 6) {
            Widget(viewModel: store) { context in
                Heading("h \(context.name)")
                for number in 0..<(context.count & 15) { Text(texts[(number + context.count) % texts.count]) }
                TextField("N", text: context.binding(for: \.name, event: { .rename($0) }))
                Button("More", action: context.action(for: .add(3)))
            }
        }
        var random = SeededRandom(seed: seed)
        let keys: [Key] = [
            .tab, .backTab, .up, .down, .enter, .character("x"), .character("日"), .backspace, .left, .pageDown,
            .pageUp, .home, .end, .escape,
        ]
        for _ in 0..<120 {
            if Bool.random(using: &random) {
                bench.press(keys.randomElement(using: &random) ?? .tab)
            } else {
                bench.show()
            }
            var fresh = Emulator(.init(columns: 24, rows: 6))
            var copy = bench.screen
            fresh.write(copy.resize(.init(columns: 24, rows: 6)).text)
            #expect(bench.terminal.text == fresh.text)
            #expect(bench.terminal.isCursorShown == fresh.isCursorShown)
            if fresh.isCursorShown { #expect(bench.terminal.cursor == fresh.cursor) }
        }
        #expect(bench.terminal.unknown == [])
    }
}
