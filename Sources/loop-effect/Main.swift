import LoopExamples
import LoopNode

/// Runs effects of one of the project's loops.
@main struct Main {
    static func main() async {
        await EffectProgram.program(Examples.all).main()
    }
}
