/// Where the reducer is found where nobody says so.
public enum ReducerAddress {
    /// The option of the programs that names it.
    package static let option = "reducer"
    /// The variable of the environment that names it.
    public static let variable = "LOOP_REDUCER"
    /// On this machine, at the reducer's own default.
    package static let fallback = "tcp://127.0.0.1:7710"

    /// What the environment variable `LOOP_REDUCER` says; `tcp://127.0.0.1:7710` where it is not set.
    public static var standard: String { standard(in: ProcessEnvironment.current) }

    static func standard(in environment: [String: String]) -> String {
        guard let address = environment[variable], !address.isEmpty else { return fallback }
        return address
    }
}
