import LoopView
import Testing

@Suite struct `Plain text` {
    @Test func `every element has its words`() {
        let view = Group {
            Heading("Title", level: 2)
            Text("two\nlines")
            Button("Go", action: {})
            Button("Stop", action: {}).disabled()
            Toggle("On", isOn: .constant(true))
            Toggle("Off", isOn: .constant(false))
            TextField("Name", text: .constant("Ann"))
            TextField("Word", text: .constant("abc"), isSecret: true)
            TextField("", text: .constant(""), prompt: "search")
            Link("site", to: "https://x.org")
            Link("trap", to: "javascript:x")
            ProgressBar("half", fraction: 0.5)
            ProgressBar("more", fraction: 7)
            ProgressBar("wait")
            Divider()
            Heading("Next", level: 9)
        }
        #expect(
            view.plainText(columns: 40) == """
                ## Title
                two
                lines
                [ Go ]
                ( Stop )
                [x] On
                [ ] Off
                Name: [Ann]
                Word: [•••]
                [search]
                site <https://x.org>
                trap
                half [##########..........] 50 %
                more [####################] 100 %
                wait …
                ----------------------------------------

                ###### Next
                """)
    }

    @Test func `long text is broken at blanks, and words that are too long anywhere`() {
        #expect(Text("the quick brown fox").plainText(columns: 10) == "the quick\nbrown fox")
        #expect(Text("abcdefghijkl mn").plainText(columns: 8) == "abcdefgh\nijkl mn")
        #expect(Text("日本語日本語").plainText(columns: 8) == "日本語日\n本語")
        #expect(Text("").plainText() == "")
    }

    @Test func `rows go on below where there is no room`() {
        let row = Row {
            Text("aaaa")
            Column {
                Text("b1")
                Text("b2")
            }
            Text("cccccccccc")
        }
        #expect(row.plainText(columns: 40) == "aaaa  b1  cccccccccc\n      b2")
        #expect(row.plainText(columns: 10) == "aaaa  b1\n      b2\ncccccccccc")
    }

    @Test func `entries of lists are indented, also when they have lists`() {
        let view = List {
            Text("a long entry")
            Column {
                Text("b")
                List { Text("c") }
            }
        }
        #expect(view.plainText(columns: 10) == "- a long\n  entry\n- b\n  - c")
    }

    @Test func `what would steer a terminal is not written`() {
        let text = Text("a\u{1B}[2Jb\u{7}\u{9B}31m\tc\u{202E}d\r\ne\u{0}").plainText()
        #expect(text == "a\u{FFFD}[2Jb\u{FFFD}\u{FFFD}31m cd\ne\u{FFFD}")
        let label = Button("x\u{1B}]0;t\u{7}\ny", action: {}).plainText()
        #expect(label == "[ x\u{FFFD}]0;t\u{FFFD} y ]")
        #expect(TextField("\u{1B}l", text: .constant("\u{1B}t")).plainText() == "\u{FFFD}l: [\u{FFFD}t]")
    }
}
