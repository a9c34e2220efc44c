import LoopCore
import LoopView
import Testing

@testable import LoopApp

@Suite struct `Views as HTML` {
    private func html(@ViewBuilder _ content: @escaping @Sendable () -> [Element]) -> String {
        let tree = ViewTree(Group(content))
        return HTML.render(tree.root, .root)
    }

    @Test func `every element has its markup`() {
        let page = html {
            Heading("Title", level: 2)
            Text("a\nb").tone(.bad).strong()
            Row {
                Button("Go", action: {}).tone(.accent)
                Button("Stop", action: {}).disabled()
            }
            Toggle("News", isOn: .constant(true))
            Link("site", to: "https://x.org/?a=1&b=2")
            ProgressBar("half", fraction: 0.5)
            ProgressBar()
            Divider()
            List(["x"], id: \.self) { Text($0) }
            Button("More", action: {}).pressedWhenSeen().id("after 3")
        }
        let expected = [
            "<div id=\"v\" class=\"column\">", "<h2 id=\"v/0\">Title</h2>",
            "<p id=\"v/1\" class=\"bad strong\">a\nb</p>", "<div id=\"v/2\" class=\"row\">",
            "<button id=\"v/2/0\" class=\"accent\" name=\"press\" value=\"/2/0\">Go</button>",
            "<button id=\"v/2/1\" name=\"press\" value=\"/2/1\" disabled>Stop</button>", "</div>",
            "<button id=\"v/3\" class=\"toggle\" role=\"switch\" aria-checked=\"true\" name=\"press\" value=\"/3\">",
            "News</button>",
            "<a id=\"v/4\" href=\"https://x.org/?a=1&amp;b=2\" rel=\"noopener noreferrer\">site</a>",
            "<label id=\"v/5\" class=\"progress\"><span>half</span><progress max=\"1\" value=\"0.5\"></progress></label>",
            "<label id=\"v/6\" class=\"progress\"><span></span><progress max=\"1\"></progress></label>",
            "<hr id=\"v/7\">",
            "<ul id=\"v/8\" class=\"list\"><li id=\"e/8/#x\"><p id=\"v/8/#x\">x</p></li></ul>",
            "<button id=\"v/#after%203\" name=\"press\" value=\"/#after%203\" data-seen>More</button>", "</div>",
        ].joined()
        #expect(page == expected)
    }

    @Test func `a field tells what it held when the page was made`() {
        let page = html {
            TextField("Name", text: .constant("Ann"), prompt: "yours", onSubmit: {})
            TextField("Word", text: .constant(""), isSecret: true).disabled()
        }
        #expect(
            page.contains(
                "<label id=\"v/0\" class=\"field\"><span>Name</span><input type=\"hidden\" name=\"was:/0\" value=\"Ann\">"
                    + "<input type=\"text\" name=\"text:/0\" value=\"Ann\" data-field=\"/0\" data-submit"
                    + " placeholder=\"yours\" autocomplete=\"off\"></label>"))
        #expect(
            page.contains(
                "<input type=\"hidden\" name=\"was:/1\" value=\"\" disabled><input type=\"password\" name=\"text:/1\""
                    + " value=\"\" data-field=\"/1\" autocomplete=\"off\" disabled>"))
    }

    /// What could end a text, an attribute or an element, in all the places where a state's text may stand.
    @Test(arguments: [
        "<script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "' onfocus='alert(1)", "</title></textarea>-->",
        "&lt;b&gt;", "a&b;c", "\u{0}<\u{1}>", "]]>", "javascript:alert(1)", "\" autofocus onfocus=\"x", "`\"'<>&=/",
    ])
    func `whatever a text holds, the markup is the same`(text: String) {
        func page(_ text: String) -> String {
            html {
                Heading(text)
                Text(text)
                Button(text, action: {})
                Toggle(text, isOn: .constant(false))
                TextField(text, text: .constant(text), prompt: text)
                Link(text, to: "/?" + text.filter { !$0.isWhitespace && $0 != "\u{0}" && $0 != "\u{1}" })
                ProgressBar(text)
                List([text], id: \.self) { Text($0) }
                Text("t").id(text)
            }
        }
        let plain = ViewPage.html(title: "x", revision: "1", view: page("x"))
        let hostile = ViewPage.html(title: text, revision: "1", view: page(text))
        #expect(Self.tags(hostile) == Self.tags(plain))
        #expect(!hostile.unicodeScalars.contains { $0.value < 32 && $0 != "\n" })
    }

    /// The tags of a document with the names of their attributes, as a browser's tokenizer finds them.
    private static func tags(_ html: String) -> [String] {
        var tags: [String] = []
        var rest = html[...]
        while let start = rest.firstIndex(of: "<") {
            rest = rest[rest.index(after: start)...]
            var tag = ""
            var quote: Character?
            while let character = rest.popFirst() {
                if let end = quote {
                    if character == end { quote = nil }
                } else if character == "\"" || character == "'" {
                    quote = character
                } else if character == ">" {
                    break
                } else {
                    tag.append(character)
                }
            }
            tags.append(tag)
        }
        return tags
    }

    @Test func `a long list has space for the rows that are not there, and the address of the page is hidden`() {
        let page = html {
            WindowList(count: 1000, first: 10, onMove: { _ in }) { Text("row").code().id(10) }
            PageAddress(.constant("a?b=\"c\""))
        }
        #expect(
            page.contains(
                "<div id=\"v/0\" class=\"window\" tabindex=\"0\" data-element=\"/0\" data-count=\"1000\" data-first=\"10\">"
                    + "<div class=\"before\"></div><div class=\"rows\"><p id=\"v/0/#10\" class=\"code\">row</p></div>"
                    + "<div class=\"after\"></div></div>"))
        #expect(
            page.contains("<span id=\"v/1\" hidden data-element=\"/1\" data-address=\"a?b=&quot;c&quot;\"></span>"))
    }

    @Test func `only a harmless address becomes a link, also in an element made by hand`() {
        let element = Element(.link("l", address: "javascript:alert(1)"))
        #expect(HTML.render(element, .root) == "<p id=\"v\">l</p>")
    }

    @Test func `escaping leaves other text as it is`() {
        #expect(HTML.escaped("Åsa 日本 e\u{301} 👩‍👧 é") == "Åsa 日本 e\u{301} 👩‍👧 é")
        #expect(HTML.escaped("\u{85}\u{9F}\u{A0}\t\n\r") == "\u{FFFD}\u{FFFD}\u{A0}\t\n\u{FFFD}")
    }
}
