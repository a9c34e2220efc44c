// LoopWire
