// LoopTesting
