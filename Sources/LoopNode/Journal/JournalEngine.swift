internal import LoopOptions

/// Where else than in files a program keeps journals. A program that has one takes its places for `--journal`.
public struct JournalEngine: Sendable {
    /// What it is called, for people.
    public let name: String
    /// How a place is written, for people.
    public let form: String
    let isPlace: @Sendable (String) -> Bool
    let place: @Sendable (String) throws(JournalPlaceError) -> JournalPlace

    /// - Parameters:
    ///   - name: what it is called.
    ///   - form: how a place is written.
    ///   - isPlace: whether a text is meant to be a place of this engine.
    ///   - place: reads such a text. Its error must not repeat what may be a password.
    package init(
        _ name: String, form: String, isPlace: @escaping @Sendable (String) -> Bool,
        place: @escaping @Sendable (String) throws(JournalPlaceError) -> JournalPlace
    ) {
        self.name = name
        self.form = form
        self.isPlace = isPlace
        self.place = place
    }
}

/// Why a text is no place of a journal.
public struct JournalPlaceError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The reason and the remedy, in one line.
    public let description: String

    /// Creates an error with its line.
    public init(_ description: String) { self.description = description }
}

extension JournalPlace {
    /// Reads where a journal is: `memory`, a file, or a place of one of the engines.
    /// - Parameters:
    ///   - text: as a person gives it; nil: the file `<loop>.journal` in the working directory.
    ///   - engines: those that the program has.
    /// - Throws: ``JournalPlaceError`` where an engine cannot read it, or where it is the URL of none of them. A URL is not taken
    ///   for the name of a file.
    public init(_ text: String?, engines: [JournalEngine]) throws(JournalPlaceError) {
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
