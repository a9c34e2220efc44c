package import LoopCore

/// The loop of the conformance kit (docs/conformance.md): each order tells its effect what to do, so that a worker in any
/// language needs no code for tests.
package struct Conform: LoopDefinition {
    /// What one effect has to do, which is its request.
    package struct Order: Codable, Equatable, Sendable {
        /// The key of the effect.
        package var number: Int
        /// One of the words in ``Conform/body(_:_:)``.
        package var does: String
        /// How often, how long in milliseconds, or how many bytes, depending on the word.
        package var count: Int
        package var text: String
    }

    package struct State: Codable, Equatable, Sendable {
        /// The orders that are being done, for workers of the group `default`.
        package var orders: [Int: Order] = [:]
        /// Those for the group `others`, whose failures park them.
        package var others: [Int: Order] = [:]
        /// The text with which each order was done.
        package var done: [Int: String] = [:]
        /// How many events each order has sent before its last one.
        package var said: [Int: Int] = [:]
        package var entries: TrackedDictionary<String, Int> = [:]
        /// As large as an observer's test needs it.
        package var filler: [UInt8] = []
        package var result: String?
    }

    package enum Event: Codable, Equatable, Sendable {
        // Events of a client.
        case place(order: Order)
        case placeOther(order: Order)
        case cancel(number: Int)
        case put(key: String, value: Int)
        case remove(key: String)
        case fill(bytes: Int)
        case finish(text: String)

        // Events of an effect.
        case said(number: Int, text: String)
        case done(number: Int, text: String)
        /// The effect has failed for good.
        case failed(number: Int, text: String)

        /// They are listed for workers in other languages, which see all cases in the schema.
        private enum CodingKeys: CodingKey, CaseIterable {
            case place, placeOther, cancel, put, remove, fill, finish, said, done, failed
        }
    }

    package static let examples: [Event] = {
        let order = Order(number: 1, does: "answer", count: 0, text: "a")
        return [
            .place(order: order), .placeOther(order: order), .cancel(number: 1), .put(key: "a", value: 1),
            .remove(key: "a"),
            .fill(bytes: 0), .finish(text: "over"), .said(number: 1, text: "a"), .done(number: 1, text: "a"),
            .failed(number: 1, text: "a"),
        ]
    }()

    /// The answer to an order.
    package struct Receipt: Codable, Equatable, Sendable {
        package let number: Int
        /// How many orders are being done, with this one.
        package let open: Int
    }

    package static let name = "conform"
    package static let abstract = "Effects that do what their requests say: the loop of the conformance kit."
    /// The largest filler, in bytes.
    private static let fillerMax = 8 << 20

    package let initial = State()

    package init() {}

    package func reduce(into state: inout State, _ event: Event, _: Transition) {
        switch event {
        case .place(let order): state.orders[order.number] = order
        case .placeOther(let order): state.others[order.number] = order
        case .cancel(let number): state.close(number)
        case .put(let key, let value): state.entries[key] = value
        case .remove(let key): state.entries[key] = nil
        case .fill(let bytes): state.filler = Array(repeating: 7, count: min(max(bytes, 0), Self.fillerMax))
        case .finish(let text): state.result = text
        case .said(let number, _): state.said[number, default: 0] += 1
        case .done(let number, let text), .failed(let number, let text):
            state.close(number)
            state.done[number] = text
        }
    }

    package func answer(to event: Event, in state: State) -> Receipt? {
        guard case .place(let order) = event else { return nil }
        return Receipt(number: order.number, open: state.orders.count)
    }

    package var sections: [StateSection<State>] { [StateSection("done", \.done)] }

    package func outcome(of state: State) -> Outcome? { state.result.map { Outcome(text: $0) } }

    package var feedbacks: [Feedback<State, Event>] {
        [
            .react("order", requests: \.orders, effect: Self.body).on(.workers)
                .retry(.exponential(max: 3, first: .milliseconds(50)))
                .failing { (order: Order, failure) in .failed(number: order.number, text: "\(failure)") },
            .react("other", requests: \.others, effect: Self.body).on(.workers(group: "others")).retry(.never),
        ]
    }

    /// What an order asks for. docs/conformance.md describes each word to those who write a worker.
    @Sendable private static func body(_ order: Order, _ context: EffectContext) -> Effect<Event> {
        let number = order.number
        @Sendable func done(_ text: String) -> Event { .done(number: number, text: text) }
        switch order.does {
        case "say":
            return .run { send in
                for index in 0..<order.count { try await send(.said(number: number, text: "\(index)")) }
            }
        case "fail":
            return .task {
                if context.failures < order.count { throw Trouble(text: order.text) }
                return done("\(context.failures)")
            }
        case "later":
            return .task {
                if context.failures == 0 { throw Trouble(text: order.text, retryAfter: .milliseconds(order.count)) }
                return done("\(context.failures)")
            }
        case "never": return .task { throw Trouble(text: order.text, isTransient: false) }
        case "wait": return .run { _ in for await _ in context.updates(of: Order.self) {} }
        case "follow":
            return .task {
                var text = order.text
                var updates = context.updates(of: Order.self).makeAsyncIterator()
                while text != "end", let newer = await updates.next() { text = newer.text }
                return done(text)
            }
        case "confirm":
            return .run { send in
                let text: String
                do throws(SendRefusal) {
                    text = "\(try await send.sendAndConfirm(.said(number: number, text: order.text)))"
                } catch {
                    text = "refused"
                }
                try await send(done(text))
            }
        case "progress":
            return .run { _ in
                context.progress(0.5, order.text)
                for await _ in context.updates(of: Order.self) {}
            }
        case "wide": return .task { done(String(repeating: "x", count: order.count)) }
        default: return .task { done(order.text) }
        }
    }

    private struct Trouble: RetryAdvice, CustomStringConvertible {
        var text: String
        var isTransient = true
        var retryAfter: Duration?
        var description: String { text }
    }
}

extension Conform.State {
    fileprivate mutating func close(_ number: Int) {
        orders[number] = nil
        others[number] = nil
        said[number] = nil
    }
}
