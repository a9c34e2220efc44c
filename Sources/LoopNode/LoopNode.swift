// LoopNode
