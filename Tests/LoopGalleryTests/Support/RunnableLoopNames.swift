import LoopExamples

enum RunnableLoopNames {
    static let all = Examples.all.map(\.name)
}
