import LoopCore

/// Accounts, from which one can withdraw what is in them.
struct Bank: LoopDefinition {
    struct State: Codable, Sendable, Equatable {
        var balances: [String: Int] = [:]
        /// The last withdrawal that was refused.
        var refused: Int?
    }

    enum Event: Codable, Sendable {
        case deposit(String, Int)
        case withdraw(String, Int, number: Int)
    }

    /// The answer to a withdrawal.
    struct Receipt: Codable, Sendable, Equatable {
        var isPaid: Bool
        var balance: Int
    }

    static let name = "bank"
    let initial = State()

    func reduce(into state: inout State, _ event: Event, _: Transition) {
        switch event {
        case .deposit(let account, let amount): state.balances[account, default: 0] += amount
        case .withdraw(let account, let amount, let number):
            guard let balance = state.balances[account], balance >= amount else {
                state.refused = number
                return
            }
            state.balances[account] = balance - amount
        }
    }

    func answer(to event: Event, in state: State) -> Receipt? {
        switch event {
        case .deposit: nil
        case .withdraw(let account, _, let number):
            Receipt(isPaid: state.refused != number, balance: state.balances[account] ?? 0)
        }
    }

    var feedbacks: [Feedback<State, Event>] { [] }
}
