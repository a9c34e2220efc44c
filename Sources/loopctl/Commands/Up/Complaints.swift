/// The lines in which processes say why they cannot run. The reducer and the workers often have one reason, which is shown once.
struct Complaints: Equatable {
    private var first: [String: ProcessGroup.Member] = [:]
    /// The names of the programs, with which such lines begin.
    private let programs: [String]

    private static let countMax = 64

    /// - Parameter programs: the programs, as they are started.
    init(of programs: [String]) {
        self.programs = programs.map { String($0.split(separator: "/").last ?? "") }
    }

    /// Whether to show a line: it gives no such reason, or no other process has given it.
    mutating func shows(_ line: String, from member: ProcessGroup.Member) -> Bool {
        guard let program = programs.first(where: { line.hasPrefix("\($0): ") }) else { return true }
        let text = String(line.dropFirst(program.count + 2))
        if let other = first[text] { return other == member }
        if first.count < Self.countMax { first[text] = member }
        return true
    }
}
