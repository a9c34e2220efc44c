/// The command line of `loop-bench`.
struct BenchmarkOptions {
    var only = ""
    var rounds = 5
    var scale = 1.0
    var output = "bench-results.json"
    var folder = ".build"
    /// Where the programs of the peers are, when those are to be measured.
    var peers: String?
    var showsHelp = false
    /// What this process is for another one, with its arguments.
    var role: Role?

    static let help = """
        loop-bench: what Loop costs, beside plain references in C, round by round.

          --only NAME     only the cases whose name contains NAME
          --rounds N      how often each variant runs (default 5)
          --scale X       how much work a round does (default 1; 0.1 for a quick look)
          --output FILE   where the results go as JSON (default bench-results.json)
          --folder PATH   where journals go for as long as a case runs; on a disk, not in memory (default .build)
          --peers PATH    measure beside the peers whose programs are in this folder, see scripts/bench-peers

        To see where the time goes, sample one process of a case with perf:

          LOOP_BENCH_PROFILE=reducer loop-bench --only window-4096 --rounds 1 --scale 4
          perf report --children -i profile-reducer-PID.data | swift demangle --simplified
        """

    init(_ arguments: [String]) throws {
        if arguments.count >= 2, arguments[0] == "--role" {
            role = try Role(name: arguments[1], words: Array(arguments.dropFirst(2)))
            return
        }
        var rest = arguments[...]
        while let option = rest.popFirst() {
            if option == "--help" {
                showsHelp = true
                return
            }
            guard let value = rest.popFirst() else { throw BenchmarkError.usage("\(option) needs a value") }
            switch option {
            case "--only": only = value
            case "--output": output = value
            case "--folder": folder = value
            case "--peers": peers = value
            case "--rounds":
                guard let number = Int(value), number > 0 else { throw BenchmarkError.usage("--rounds \(value)") }
                rounds = number
            case "--scale":
                guard let number = Double(value), number > 0, number <= 100 else {
                    throw BenchmarkError.usage("--scale \(value)")
                }
                scale = number
            default: throw BenchmarkError.usage("there is no option \(option)")
            }
        }
    }
}
