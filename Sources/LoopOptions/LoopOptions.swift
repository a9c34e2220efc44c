// LoopOptions
