// LoopCore
