// LoopWeb
