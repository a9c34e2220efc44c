// LoopCluster
