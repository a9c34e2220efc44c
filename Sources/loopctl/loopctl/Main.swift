import LoopCommands

/// Starts, watches and steers loops.
@main struct Main {
    static func main() async { await ControlProgram.main() }
}
