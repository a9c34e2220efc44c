import LoopView
import Testing
