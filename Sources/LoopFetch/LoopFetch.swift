// LoopFetch
