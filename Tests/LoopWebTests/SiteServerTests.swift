import LoopWeb
import Testing

@Suite struct `site server` {
}
