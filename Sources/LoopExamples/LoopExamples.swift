// LoopExamples
