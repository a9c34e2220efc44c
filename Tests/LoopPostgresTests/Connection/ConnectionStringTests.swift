import LoopPostgres
import Testing

@Suite struct `The URL of a database` {
    @Test(arguments: [
        ("postgres://ada:secret@db.example:5433/loops", "postgres://ada@db.example:5433/loops"),
        ("postgresql://ada@a,b:5433/loops", "postgres://ada@a,b:5433/loops"),
        ("postgres://%2Frun%2Fpostgresql/loops?password=secret", "postgres://%2Frun%2Fpostgresql/loops"),
        ("postgres://ada@[::1]:5432/", "postgres://ada@[::1]:5432/"),
        ("postgres://h/loops?user=ada@example", "postgres://ada%40example@h/loops"),
        ("postgres://ada:sec%2F%23%40ret@h:1/loops?application_name=a@b", "postgres://ada@h:1/loops"),
        ("postgres://h:5432/loops?user=ada@example", "postgres://ada%40example@h:5432/loops"),
        ("postgres://h:1/loops?application_name=a@b", "postgres://h:1/loops"),
        ("postgres:///loops?host=/run/postgresql&user=ada", "postgres://ada@%2Frun%2Fpostgresql/loops"),
    ])
    func `is shown without its password`(text: String, shown: String) throws {
        let string = try ConnectionString(text)
        #expect(string.description == shown)
        #expect(try ConnectionString(shown).description == shown)
    }

    @Test(arguments: [
        "postgres://ada:secret@[::1/loops", "postgres://a/b?secret=secret",
        "http://ada:secret@host", "postgres://ada:sec%zzret@host/x", "postgres://u:sec/ss@127.0.0.1:1/db",
        "postgres://u:sec#ss@127.0.0.1:1/db", "postgres://u:sec@sec@127.0.0.1:1/db", "postgres://u:1/sec@h/db",
        "postgres://u:sec/ret", "postgres://h:0/sec", "postgres://a:1,b:sec/x",
    ])
    func `is refused with a reason that does not repeat it`(text: String) {
        let error = #expect(throws: PostgresError.self) { try ConnectionString(text) }
        #expect(error?.kind == .misuse)
        #expect(error?.description.contains("sec") == false, "\(error?.description ?? "")")
    }
}
