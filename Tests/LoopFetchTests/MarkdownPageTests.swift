import Testing

@testable import LoopFetch

private func parse(_ markdown: String) throws -> ParsedPage {
    try PageParser.markdown(Array(markdown.utf8), url: WebURL("http://site.example/docs/page.md"))
}

private func links(_ markdown: String) throws -> [String] { try parse(markdown).links.map(\.text) }

@Suite struct `Markdown pages` {
    @Test(arguments: linkForms)
    func `links of every form are found`(markdown: String, expected: [String]) throws {
        #expect(try links(markdown) == expected)
    }

    @Test func `references lead where they are defined`() throws {
        let markdown = """
            [Full][Label one], [collapsed][], [Shortcut], ![image][img], [undefined][nowhere], [none], [^1], [ ] task

            [label  ONE]: one.md "title"
            [collapsed]: <two.md>
              'title'
            [shortcut]:
            three.md
            [IMG]: i.png
            [img]: second.png
            [^1]: a footnote
            [bad]: four.md and more
            """
        #expect(try links(markdown) == ["/docs/one.md", "/docs/two.md", "/docs/three.md", "/docs/i.png"])
    }

    @Test func `code is no link`() throws {
        let markdown = """
            ```swift
            [a](no.md)
            ``
            ````

            ~~~
            ```
            [b](no.md)
            ~~~
            [c](yes.md)

                [d](no.md)

            - item

                  [e](no.md)

              [f](inside.md)
              ```
              [g](no.md)
              ```

            1. one
               - two
                 [h](deep.md)

                 [i](deeper.md)
            > ```
            > [j](no.md)
            [k](after.md)

            text
                [l](continued.md)
            """
        #expect(
            try links(markdown) == [
                "/docs/yes.md", "/docs/inside.md", "/docs/deep.md", "/docs/deeper.md", "/docs/after.md",
                "/docs/continued.md",
            ])
    }

    @Test func `quotes, lists and tables hold links`() throws {
        let markdown = """
            > quoted [a](1.md)
            lazy [b](2.md)
            * item [c](3.md)
            + > # [d](4.md)
            10) [e](5.md)

            | x | y |
            |---|---|
            | [f](6.md) | `\\|` [g](7.md) |
            """
        #expect(try links(markdown) == (1...7).map { "/docs/\($0).md" })
    }

    @Test func `HTML blocks are HTML until a blank line`() throws {
        let markdown = """
            <div align="center">
              <img src="logo.png"> [a](no.md)
            </div>
            still <a href="html.md">html</a> [b](no.md)

            [c](yes.md)

            <script>
            [d](no.md) <a href="no.html">

            </script>
            <pre>
            <a href="pre.md"></a>

            [e](no.md)</pre>
            [f](end.md)
            """
        #expect(
            try links(markdown) == ["/docs/logo.png", "/docs/html.md", "/docs/yes.md", "/docs/pre.md", "/docs/end.md"])
    }

    @Test func `what a block leaves open hides nothing after the block`() throws {
        #expect(try links("> <!-- open\n\n[a](b.md)") == ["/docs/b.md"])
        #expect(try links("> <script>\n\n[a](b.md)") == ["/docs/b.md"])
        #expect(try links("<title\n>\n\n[a](b.md)") == ["/docs/b.md"])
    }

    @Test(arguments: headings)
    func `headings have the anchors that GitHub gives them`(markdown: String, anchors: Set<String>) throws {
        #expect(try parse(markdown).anchors == anchors)
    }

    @Test func `front matter is no text`() throws {
        #expect(try parse("---\ntitle: front\n---\n").anchors.isEmpty)
        #expect(try links("---\n\"a-b_1\":\n  - [a](no.md)\n---\n[b](yes.md)") == ["/docs/yes.md"])
    }

    @Test(arguments: ["\n", "", "[a]: b.md\n", "# x: y\n", "See this: \n", ": \n", "http://a.example/ \n"])
    func `a rule at the beginning is no front matter`(_ next: String) throws {
        #expect(try links("---\n\(next)[c](d.md)\n\n---\n").last == "/docs/d.md")
    }

    @Test func `bare URLs are links, as on GitHub`() throws {
        let markdown =
            "See http://a.example/x_(y). Or www.b.example, <b>https://c.example/</b>, a@d.example; `http://no.example`"
        #expect(try links(markdown) == ["http://a.example/x_(y)", "http://www.b.example/", "https://c.example/"])
    }

    @Test(arguments: [
        "[", "](", "[a](<", "[a](b \"", "`", "``` `", "<a b=\"", "<!--", "![", "_a", "> - ", "[a]: ", "\\", "&",
        "[[a](b)",
    ])
    func `twenty thousand open marks take no time`(mark: String) throws {
        let started = ContinuousClock.now
        _ = try parse("# " + String(repeating: mark, count: 20_000))
        _ = try parse(String(repeating: mark, count: 20_000))
        _ = try parse(String(repeating: mark + "\n", count: 20_000))
        #expect(ContinuousClock.now - started < .seconds(30))
    }

    @Test func `a page ends at every byte without harm`() throws {
        let page = Array(
            "---\nx\n---\n# A `b` [c](<d> 'e')\n> - ~~~\n[f]: g\n\n<div>\n[h][f]\n\n<!-- i --> \\ ![j](k)".utf8)
        for count in 0...page.count {
            _ = try PageParser.markdown(Array(page[..<count]), url: WebURL("http://a/"))
        }
    }
}

private let headings: [(String, Set<String>)] = [
    ("# Hello World", ["hello-world"]),
    ("## What's new, in 2.0? ##", ["whats-new-in-20"]),
    ("Setext *one*\n===\n\nSetext two\n---", ["setext-one", "setext-two"]),
    ("# A\n# a\n# A\n# a-1", ["a", "a-1", "a-2", "a-1-1"]),
    ("# `code_span()` and **bold** _it_ snake_case __init__", ["code_span-and-bold-it-snake_case-init"]),
    ("# [Link](x.md) & <em>tag</em> ![alt](i.png)", ["link--tag"]),
    ("# Über ÄÖ 日本語", ["über-äö-日本語"]),
    ("# a - b — c", ["a---b--c"]),
    ("# &amp; x", ["-x"]),
    ("#no heading\n####### seven\n    # code\n#", []),
    ("- # In a list\n> ## In a quote", ["in-a-list", "in-a-quote"]),
    ("# !?\ntext <a id=\"own\"></a> <a name='other'>x</a>", ["own", "other"]),
]

private let linkForms: [(String, [String])] = [
    ("[a](b.md)", ["/docs/b.md"]),
    ("[a](b.md \"title\") [c](<d e.md> 'x') [f](g.md (y))", ["/docs/b.md", "/docs/d%20e.md", "/docs/g.md"]),
    ("[a]( b.md ) [c]()", ["/docs/b.md", "/docs/page.md"]),
    ("[a](x_(y).md) [b](c\\).md)", ["/docs/x_(y).md", "/docs/c).md"]),
    ("![alt](i.png)", ["/docs/i.png"]),
    ("[![alt](i.png)](a.md)", ["/docs/a.md", "/docs/i.png"]),
    ("[a *b* `c]` \\] d](e.md)", ["/docs/e.md"]),
    ("[a [b] c](d.md)", ["/docs/d.md"]),
    ("[a [b](c.md)](d.md)", ["/docs/c.md"]),
    ("![a [b](c.md)](d.png)", ["/docs/d.png", "/docs/c.md"]),
    ("[a](b c.md) [d](e.md", []),
    ("\\[a](b.md) `[c](d.md)` ``[e](f.md) ` ``", []),
    ("`unclosed [a](b.md)", ["/docs/b.md"]),
    ("<http://x.example/a?b=1&c=2> <mailto:a@b.example>", ["http://x.example/a?b=1&c=2"]),
    ("[a](b.md?x=1&amp;y=2)", ["/docs/b.md?x=1&y=2"]),
    ("[a](#x) [b](c.md#Some%20Part)", ["/docs/page.md#x", "/docs/c.md#Some Part"]),
    ("x <a href='a.md'>y</a> <img\nsrc=\"i.png\" > < a href=no>", ["/docs/a.md", "/docs/i.png"]),
    (
        "x <!-- [a](b.md) --> [c](d.md)\n<!-- [e](f.md)\n\n[g](h.md) --> [i](j.md)<a href=k.md>\n[l](m.md)",
        ["/docs/d.md", "/docs/k.md", "/docs/m.md"]
    ), ("[a](b.md)\n\n<!-- c\n\n[d](e.md)", ["/docs/b.md"]),
    ("a <script src=x.js> [b](c.md)", ["/docs/x.js", "/docs/c.md"]),
]
