public import LoopOptions

/// The argument of the examples that talk to a server: its address.
public enum ServerAddress {
    /// The root below which the server's documents are, with its closing slash.
    public static let positional = Positional(
        "SERVER", .site, help: "the http or https URL of the examples' server, as loop-example starts one")
}
