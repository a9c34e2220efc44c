/// An engine that keeps journals elsewhere than in files. A program that has one accepts its addresses for `--journal`.
public struct JournalEngine: Sendable {
    /// The form of its addresses, for people.
    package let form: String
    let isPlace: @Sendable (String) -> Bool
    let place: @Sendable (String) throws(JournalPlaceError) -> JournalPlace

    /// - Parameters:
    ///   - form: the form of its addresses.
    ///   - isPlace: whether a text is meant as an address of this engine.
    ///   - place: reads such a text. Its error must not repeat what may be a password.
    package init(
        form: String, isPlace: @escaping @Sendable (String) -> Bool,
        place: @escaping @Sendable (String) throws(JournalPlaceError) -> JournalPlace
    ) {
        self.form = form
        self.isPlace = isPlace
        self.place = place
    }
}

/// Why a text does not name a journal.
package struct JournalPlaceError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The reason and the remedy, on one line.
    package let description: String

    /// Creates an error with its line.
    package init(_ description: String) { self.description = description }
}

extension JournalPlace {
    /// Reads the location of a journal: `memory`, a file, or an address of one of the engines.
    /// - Parameters:
    ///   - text: the text that a person gives, or nil for the file `<loop>.journal` in the working directory.
    ///   - engines: the engines that the program has.
    /// - Throws: ``JournalPlaceError`` if an engine cannot read the text, or if it is a URL of none of them. A URL is not taken
    ///   as a file name.
    package init(_ text: String?, engines: [JournalEngine]) throws(JournalPlaceError) {
        switch text {
        case "memory"?: self = .memory
        case let text?:
            if let engine = engines.first(where: { $0.isPlace(text) }) {
                self = try engine.place(text)
            } else if let scheme = FileName.scheme(of: text) {
                let known = engines.map { ", \($0.form)" }.joined()
                throw JournalPlaceError(
                    "this program keeps no journals at \(scheme):; it takes a file, memory\(known);"
                        + " a file of that name is ./\(scheme):…")
            } else if let flaw = FileName.flaw(in: text) {
                throw JournalPlaceError(flaw)
            } else {
                self = .file(text)
            }
        case nil: self = .standard
        }
    }
}
