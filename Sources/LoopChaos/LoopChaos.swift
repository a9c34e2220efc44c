/// Real processes under kills, cuts and lies, and what must be true afterwards.
public enum LoopChaos {}
