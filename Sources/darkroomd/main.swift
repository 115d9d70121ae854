import DarkroomDaemon

// Every later thread inherits this one's mask. The control signals have been blocked before (CDarkroomStart).
SignalSources.block()
DarkroomdCommand.start()
