import LoopCompatibility
import LoopCore

// The examples of the tables in docs/feedbacks.md: each stands there as it stands here.

private func price(_ basket: [String]) async throws -> Int { basket.count }
private func fetch(_ name: String) async throws -> Int { name.count }
private func find(_ text: String) async throws -> [String] { [text] }
private func deliver(_ mail: String) async throws {}
private func record(_ state: Stand, _ event: StandEvent? = nil) async {}
private func follow(_ user: String, _ send: Send<StandEvent>) async throws {}
private func subscribe(_ send: Send<StandEvent>) async throws {}
private func watch(_ room: Int, _ me: EffectContext, _ send: Send<StandEvent>) async throws {
    for await _ in me.updates(of: Int.self) {}
}
private func pay(_ order: Order, _ key: String) async throws -> StandEvent { .paid(order.id, receipt: key) }

@Sendable private func check(_ id: Int) -> Effect<StandEvent> { .event(.checked(id)) }

struct Order: Codable, Equatable, Sendable {
    var id: Int
    var cents: Int
}

struct Stand: Codable, Equatable, Sendable {
    var basket: [String]?
    var user: String?
    var stock = 0
    var missing: Set<String> = []
    var rooms: [String: Int] = [:]
    var unpaid: TrackedDictionary<Int, Order> = [:]
    var isLow: Bool { stock < 10 }
}

enum StandEvent: Codable, Equatable, Sendable {
    case tick
    case typed(String)
    case mailed(String)
    case priced(Int)
    case refilled(Int)
    case checked(Int)
    case fetched(String, bytes: Int)
    case found([String])
    case paid(Int, receipt: String)

    var text: String? { if case .typed(let text) = self { text } else { nil } }
    var mail: String? { if case .mailed(let mail) = self { mail } else { nil } }
}

/// One feedback of each form, but for timers and schedules.
func feedbackForms(_ buttons: Input<StandEvent>, _ ticks: AsyncStream<Void>) -> [Feedback<Stand, StandEvent>] {
    [
        .react("price", request: \.basket) { basket in .task { .priced(try await price(basket)) } },
        .whenBecomesTrue("refill", state: \.isLow) { state in .task { .refilled(100 - state.stock) } },
        .react("fetch", requests: \.missing) { name in .task { .fetched(name, bytes: try await fetch(name)) } },
        .react("watch", requests: \.rooms) { room, me in .run { send in try await watch(room, me, send) } },
        .react("charge", requests: \.unpaid) { order, me in .task { try await pay(order, me.idempotencyKey) } },
        .react("check", each: \.unpaid, request: { id, order in order.cents > 99 ? id : nil }, effect: check),
        .extracting("find", payload: \.text) { text in .task { .found(try await find(text)) } },
        .source("prices") { send in try await subscribe(send) },
        .source("ticks", ticks, as: { _ in .tick }),
        .input("buttons", buttons),
        .custom("trace") { transitions, _ in for await (state, event) in transitions { await record(state, event) } },
    ]
}

/// One feedback of each form that only LoopCompatibility has.
func olderForms() -> [Feedback<Stand, StandEvent>] {
    [
        .firstValueAfterNil("follow", state: \.user) { user in .run { send in try await follow(user, send) } },
        .lensing("reprice", state: \.basket) { basket in .task { .priced(try await price(basket)) } },
        .whileTrue("low", state: \.isLow) { state in .run { _ in await record(state) } },
        .everyState("record") { state in .run { _ in await record(state) } },
        .extractingAndKeeping("deliver", payload: \.mail) { mail in .run { _ in try await deliver(mail) } },
        .skippingRepeated("look up", events: \.text) { text in .task { .found(try await find(text)) } },
        .skippingRepeatedAndKeeping("post", events: \.mail) { mail in .run { _ in try await deliver(mail) } },
        .middleware("audit") { state, event in .run { _ in await record(state, event) } },
        .compacting("hint", events: { $0.compactMap(\.text) }, effects: { text in .event(.found([text])) }),
        .events("echo") { states in states.map { StandEvent.priced($0.stock) } },
        .bind("show") { states in Bindings(subscriptions: [{ for await state in states { await record(state) } }]) },
    ]
}
