extension Films: HandCodable {
    func write(to writer: inout HandWriter) {
        writer.half(UInt32(films.count))
        for film in films { film.write(to: &writer) }
    }

    init(from reader: inout HandReader) throws {
        let count = Int(try reader.half())
        films = []
        films.reserveCapacity(min(count, reader.bytes.count / 33))
        for _ in 0..<count { films.append(try Film(from: &reader)) }
    }
}

extension Films.Film: HandCodable {
    func write(to writer: inout HandWriter) {
        writer.word(UInt64(bitPattern: Int64(id)))
        writer.text(title)
        writer.word(UInt64(bitPattern: Int64(year)))
        writer.word(rating.bitPattern)
        writer.byte(isSeen ? 1 : 0)
        writer.text(director)
    }

    init(from reader: inout HandReader) throws {
        id = Int(Int64(bitPattern: try reader.word()))
        title = try reader.text()
        year = Int(Int64(bitPattern: try reader.word()))
        rating = Double(bitPattern: try reader.word())
        isSeen = try reader.byte() != 0
        director = try reader.text()
    }
}
