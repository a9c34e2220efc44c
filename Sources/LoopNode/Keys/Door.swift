/// Which of the reducer's own keys a connection uses: 1 for `server`, 2 for `server-2`. Each has its own endpoints.
struct Door: Hashable {
    /// The property under which the authenticator adds it to the messages of a connection.
    static let property = "X-Door"
    static let first = Door(number: 1)

    /// Counts from 1.
    let number: Int

    init(number: Int) { self.number = number }

    init(domain: String) {
        number = domain.lastIndex(of: "/").flatMap { Int(domain[domain.index(after: $0)...]) } ?? 1
    }

    init(property text: String?) { number = text.flatMap { Int($0) } ?? 1 }

    var text: String { "\(number)" }

    func domain(_ socket: ReducerSocket) -> String { "loop.\(socket)/\(number)" }
}
