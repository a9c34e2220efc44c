// LoopCommands
