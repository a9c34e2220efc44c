import Foundation
import Testing

@testable import LoopFetch

/// `WebURL` against the URL standard of browsers, as Ada 2.9 implements it (`new URL(…)` of Node 20).
@Suite struct `web URLs and browsers` {
    /// A line is a JSON array: a reference, its base or null, and the URL, null for none, "other" for another scheme.
    private static let cases: [[String?]] = {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Fixtures/urls.jsonl")
        let lines = (try? Data(contentsOf: file).split(separator: UInt8(ascii: "\n"))) ?? []
        return lines.compactMap { try? JSONDecoder().decode([String?].self, from: $0) }
    }()

    /// Names in Punycode are not looked into. A second colon before `@` stays.
    private static let differing = ["xn--/", "xn--a/", "xn--zn7c", "xn--:", "xn--a:", "a:b:c@"]

    @Test func `a reference means what it means to a browser`() throws {
        #expect(Self.cases.count > 700)
        for entry in Self.cases {
            let (reference, base, expected) = (try #require(entry[0]), entry[1], entry[2])
            if Self.differing.contains(where: reference.contains) { continue }
            var url: WebURL?
            var isOther = false
            do throws(WebURLError) {
                url = if let base { try WebURL(base).resolve(reference) } else { try WebURL(reference) }
            } catch .otherScheme {
                isOther = true
            } catch {}
            let meant = expected.flatMap { try? WebURL($0) }
            #expect(
                url?.string == meant?.string && isOther == (expected == "other"),
                "\(reference.debugDescription) on \(base ?? "nothing"): \(url?.description ?? "none"), not \(expected ?? "none")"
            )
        }
    }
}
