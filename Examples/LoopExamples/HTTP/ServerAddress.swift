public import LoopNode

/// The argument of examples that use a server: its address.
public enum ServerAddress {
    /// The root URL of the server's documents, with its closing slash.
    public static let positional = Positional(
        "SERVER", .site, help: "the http or https URL of the examples' server, as loop-example starts one")
}
