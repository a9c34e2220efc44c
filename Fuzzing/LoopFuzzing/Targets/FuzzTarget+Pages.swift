import LoopFetch

extension FuzzTarget {
    /// HTML pages. Where the markup is plain, the scanner of start tags and libxml2 say the same of a page.
    static let pages = FuzzTarget(
        "pages", "HTML pages", budget: AllocationBudget(fixed: 1 << 20, perByte: 1024)
    ) { bytes in
        let (scanned, byLibrary) = PageParser.readings(of: bytes, url: try WebURL("http://site.example/docs/page.html"))
        guard let scanned else { return }
        try require(scanned == byLibrary, "the scanner read \(scanned), and libxml2 \(byLibrary)")
    }

    static func pageSeeds() -> [FuzzSeed] {
        [
            "<!DOCTYPE html><title>a</title><p id=b>c<a href='d'>e</a>",
            "<html id=a><head><meta charset=utf-8><base href='/x/'><title>&lt;t&gt; é</title></head><body id=b>",
            "<a HREF = \"x\" Name=y><!-- <a href=no> -- > --><img srcset='a 1x, b' src=c /><br/>",
            "<script>if (a < b && '<a href=no>' != \"</a>\") {}</SCRIPT ><style><!-- a > b --></style><a href=yes>",
            "<?xml version=\"1.0\"?><!DOCTYPE html PUBLIC \"-//W3C//DTD XHTML 1.0//EN\" \"http://a/b.dtd\"><html>",
            "<a href='?a=1&amp;b=2&c=3#d%20e'><a href='mailto:a&#64;b'><meta http-equiv=refresh content='0;url=h'>",
            "<p title='<a href=no>' id='a\nb'><a href=><textarea><a href=no></textarea><!-- --!><![CDATA[<a>]]>",
        ].enumerated().map { FuzzSeed("page \($0.offset)", Array($0.element.utf8)) }
    }
}
