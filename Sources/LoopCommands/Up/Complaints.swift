/// What processes say of why they cannot run: the reducer and the workers say the same, and it is shown once.
struct Complaints: Equatable {
    private var first: [String: ProcessGroup.Member] = [:]
    /// The names under which the programs complain.
    private let programs: [String]

    private static let countMax = 64

    /// - Parameter programs: as they are started.
    init(of programs: [String]) {
        self.programs = programs.map { String($0.split(separator: "/").last ?? "") }
    }

    /// Whether a line is to be shown: it is no complaint, or no other process has said the same.
    mutating func shows(_ line: String, from member: ProcessGroup.Member) -> Bool {
        guard let program = programs.first(where: { line.hasPrefix("\($0): ") }) else { return true }
        let text = String(line.dropFirst(program.count + 2))
        if let other = first[text] { return other == member }
        if first.count < Self.countMax { first[text] = member }
        return true
    }
}
