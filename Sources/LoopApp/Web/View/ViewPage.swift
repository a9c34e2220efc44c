/// The document around a view.
enum ViewPage {
    /// - Parameters:
    ///   - revision: the revision of the view, from which the page follows it.
    ///   - view: the view's HTML.
    ///   - isWide: whether the page is as wide as the window.
    static func html(title: String, revision: String, view: String, isWide: Bool = false) -> String {
        """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <title>\(HTML.escaped(title))</title>
        <link rel="stylesheet" href="/loop.css">
        <script src="/loop.js" defer></script>
        </head>
        <body>
        <form id="page"\(isWide ? " class=\"wide\"" : "") method="post" action="/" autocomplete="off" data-revision="\(HTML.escaped(revision))">
        <button class="default" name="press" value="" tabindex="-1" aria-hidden="true"></button>
        <main>\(view)</main>
        </form>
        <p id="connection" role="status" hidden>Connecting again …</p>
        </body>
        </html>

        """
    }
}
