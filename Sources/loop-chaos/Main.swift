import LoopChaos

@main
struct Main {
    static func main() {}
}
