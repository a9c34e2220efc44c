// LoopJournal
