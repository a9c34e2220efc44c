// LoopLock
