/// A small enum, as an event is: a case without a value, and one with two.
enum Signal: Codable, Equatable, Sendable {
    case increment
    case response(Int, [String])

    static let answer = Signal.response(7, ["Alien", "Blade Runner", "Metropolis", "The Third Man"])
}

extension Signal: HandCodable {
    func write(to writer: inout HandWriter) {
        switch self {
        case .increment: writer.byte(0)
        case .response(let page, let titles):
            writer.byte(1)
            writer.word(UInt64(bitPattern: Int64(page)))
            writer.half(UInt32(titles.count))
            for title in titles { writer.text(title) }
        }
    }

    init(from reader: inout HandReader) throws {
        guard try reader.byte() == 1 else {
            self = .increment
            return
        }
        let page = Int(Int64(bitPattern: try reader.word()))
        let count = Int(try reader.half())
        var titles: [String] = []
        titles.reserveCapacity(min(count, reader.bytes.count / 4))
        for _ in 0..<count { titles.append(try reader.text()) }
        self = .response(page, titles)
    }
}

/// Ten thousand numbers of one to five bytes.
struct Numbers: Codable, Equatable, Sendable {
    var numbers = (0..<10_000).map { $0 * $0 % 100_003 }
}

extension Numbers: HandCodable {
    func write(to writer: inout HandWriter) {
        writer.half(UInt32(numbers.count))
        for number in numbers { writer.word(UInt64(bitPattern: Int64(number))) }
    }

    init(from reader: inout HandReader) throws {
        let count = Int(try reader.half())
        numbers = []
        numbers.reserveCapacity(min(count, reader.bytes.count / 8))
        for _ in 0..<count { numbers.append(Int(Int64(bitPattern: try reader.word()))) }
    }
}
