import LoopNode
import LoopPostgres
import Testing

@Suite struct `The place of a journal` {
    @Test(
        arguments: [
            (nil, "lamp.journal"), ("memory", "memory"), ("a/b.journal", "a/b.journal"), ("./postgres:", "./postgres:"),
            ("postgres://ada:secret@db/loops", "postgres://ada@db/loops"),
            ("postgres://ada:secret@db/loops#previous", "postgres://ada@db/loops#previous"),
        ] as [(String?, String)])
    func `is read from what a person gives, and shown without a password`(text: String?, name: String) throws {
        #expect(try JournalPlace(text, engines: [.postgres]).name("lamp") == name)
    }

    @Test(
        arguments: [
            (
                "postgres://db/loops", [],
                "this program keeps no journals at postgres:; it takes a file, memory; a file of that name is ./postgres:…"
            ),
            (
                "mysql://ada:secret@db/loops", [.postgres],
                "this program keeps no journals at mysql:; it takes a file, memory, postgres://USER@HOST/DATABASE;"
                    + " a file of that name is ./mysql:…"
            ),
            (
                "postgres://ada:secret@db/loops#arriving", [.postgres],
                "it has a # that neither #previous nor #damaged follows, the journals of a loop besides its current one; a # in a"
                    + " password is written %23"
            ),
        ] as [(String, [JournalEngine], String)])
    func `is refused where no engine of the program knows it`(text: String, engines: [JournalEngine], line: String) {
        let error = #expect(throws: JournalPlaceError.self) { try JournalPlace(text, engines: engines) }
        #expect(error?.description == line)
    }
}
