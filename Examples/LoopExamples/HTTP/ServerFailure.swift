/// The reason why a server gave no usable answer.
package struct ServerFailure: Error, Equatable, CustomStringConvertible {
    /// The reason as text for people: `the server answered 500`.
    package let description: String

    /// Creates a failure without a readable answer.
    package init(_ description: String) { self.description = description }

    /// Creates a failure for an answer whose status is not 200.
    package init(status: Int) {
        description = status == 429 ? "the server asks for patience (429)" : "the server answered \(status)"
    }
}
