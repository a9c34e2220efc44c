import LoopExamples
import LoopNode
import LoopPostgres

/// Owns the state of one of the project's loops.
@main struct Main {
    static func main() async {
        await ReducerProgram.program(Examples.all, engines: [.postgres]).main()
    }
}
