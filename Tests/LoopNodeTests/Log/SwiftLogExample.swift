import LoopCollections
import LoopNode
import Testing

/// What docs/services.md uses of swift-log, which is no part of this project.
private struct Logger: Sendable {
    enum Level: String, Sendable {
        case trace, debug, info, notice, warning, error, critical
    }

    enum MetadataValue: Equatable, Sendable {
        case string(String)
    }

    static let written = Locked<[(level: Level, text: String, metadata: [String: MetadataValue])]>([])

    let label: String

    func log(level: Level, _ message: @autoclosure () -> String, metadata: [String: MetadataValue]? = nil) {
        let (text, metadata) = (message(), metadata ?? [:])
        Self.written.withLock { $0.append((level, "\(label): \(text)", metadata)) }
    }
}

@Suite struct `A log that goes to swift-log` {
    @Test func `has the level, the line and the fields of each event`() {
        var configuration = EffectNodeConfiguration()
        let logger = Logger(label: "shop")
        configuration.log = LogHandler { event in
            logger.log(
                level: Logger.Level(rawValue: event.level.rawValue) ?? .info, "\(event.line)",
                metadata: event.metadata.mapValues { .string($0) })
        }
        configuration.log.write(
            LogEvent(
                time: .init(milliseconds: 1), level: .notice, kind: .joined, node: "reducer shop", text: "hello",
                fields: [.peer("w1"), .session(3)]))
        let written = Logger.written.withLock { $0 }
        #expect(written.map(\.text) == ["shop: reducer shop: hello"])
        #expect(written.map(\.level) == [.notice])
        #expect(written.first?.metadata == ["peer": .string("w1"), "session": .string("3")])
        #expect(LogLevel.allCases.allSatisfy { Logger.Level(rawValue: $0.rawValue) != nil })
    }
}
