import LoopCore
import LoopNode

/// A client that sends numbered events, and checks at the end that the loop has applied each of them once, in order.
enum SenderRole<Event: NumberedEvent> {
    static func run(_ role: Role) async throws {
        let loop = try RemoteLoop(Counting<Event>.self, reducer: try role.reducer(), log: .silent)
        let (count, warmUp) = (try role.number("count"), try role.number("warm-up"))
        var number: UInt64 = 0
        func next() -> Event {
            number += 1
            return Event(number: number)
        }
        // The first answer says that the session stands.
        try await loop.sendAndConfirm(next())
        for _ in 0..<warmUp { try await loop.send(next()) }
        try await loop.sendAndConfirm(next())

        let asks = role.arguments["asks"] != nil
        let clock = ContinuousClock()
        if try role.number("window") == 1 {
            var waits: [Double] = []
            waits.reserveCapacity(count)
            try await withTaskExecutorPreference(role.isOnItsThread ? loop.executor : nil) {
                for _ in 0..<count {
                    let sent = clock.now
                    if asks {
                        _ = try await loop.ask(next())
                    } else {
                        try await loop.sendAndConfirm(next())
                    }
                    waits.append((clock.now - sent).inSeconds * 1e6)
                }
            }
            Role.say("p50", waits.median)
        } else if try role.number("window") < 4096 {
            // The last event of each batch is confirmed before the next batch begins.
            let window = try role.number("window")
            let began = clock.now
            for sent in 1...count {
                if sent % window == 0 || sent == count {
                    try await loop.sendAndConfirm(next())
                } else {
                    try await loop.send(next())
                }
            }
            Role.say("seconds", (clock.now - began).inSeconds)
        } else {
            // As many as its outbox holds, and no more a second than it was told.
            Role.say("began", MonotonicTime.seconds)
            let rate = role.arguments["rate"].flatMap { Int($0) }
            let began = clock.now
            for sent in 1..<count {
                try await loop.send(next())
                guard let rate, sent % (rate / 1000) == 0 else { continue }
                try await clock.sleep(until: began + .microseconds(sent * 1_000_000 / rate))
            }
            try await loop.sendAndConfirm(next())
            Role.say("seconds", (clock.now - began).inSeconds)
        }
        for await (seq, state) in loop.states where seq.value >= number {
            try state.check(number)
            break
        }
        Role.say("checked", number)
        await loop.close()
    }
}
