import LoopFetch

extension FuzzTarget {
    /// Pages of HTML, XHTML and Markdown. Every link is a URL in its normal form.
    static let pages = FuzzTarget("pages", budget: AllocationBudget(fixed: 1 << 20, perByte: 1024)) { bytes in
        let url = try WebURL("http://site.example/docs/page.html")
        for type in PageParser.mediaTypes {
            for link in PageParser.parse(bytes, contentType: type, url: url)?.links ?? [] {
                let again = try WebURL(link.target)
                // Of a user name or a password, an "@" remains.
                let target = link.target.replacing("://@", with: "://", maxReplacements: 1)
                try require(again.description == target, "\(link.target) of \(type) is \(again)")
            }
        }
    }

    static func pageSeeds() -> [FuzzSeed] {
        [
            "<!DOCTYPE html><title>a</title><p id=b>c<a href='d'>e</a>",
            "<html id=a><head><meta charset=utf-8><base href='/x/'><title>&lt;t&gt; é</title></head><body id=b>",
            "<a HREF = \"x\" Name=y><!-- <a href=no> -- > --><img srcset='a 1x, b' src=c /><br/>",
            "<script><!-- <script> '<a href=no>' </script> --></SCRIPT ><style><!-- a > b --></style><a href=yes>",
            "<?xml version=\"1.0\"?><!DOCTYPE html PUBLIC \"-//W3C//DTD XHTML 1.0//EN\" \"http://a/b.dtd\"><html>",
            "<a href='?a=1&amp;b=2&c=3#d%20e'><a href='mailto:a&#64;b'><meta http-equiv=refresh content='0;url=h'>",
            "<p title='<a href=no>' id='a\nb'><a href=><textarea><a href=no></textarea><!-- --!><![CDATA[<a>]]>",
            "<meta charset=shift_jis><a href='http://bücher.example/?ü&eacute;&#x80;'><iframe srcdoc='<a href=x>'>",
            "<svg><a xlink:href=a><![CDATA[<a>]]><template><math><mi><template shadowrootmode=open></svg><!-->",
            "# a\n\n[b](c \"d\") <e@f.example> http://g.example/h_(i).\n\n| j |\n|---|\n| ![k](l) |\n\n<!-- m\n[^n]\n\n[^n]: o",
        ].enumerated().map { FuzzSeed("page \($0.offset)", Array($0.element.utf8)) }
    }
}
