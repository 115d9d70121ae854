import Darkroom

// First of all, while there is only this thread: every later one inherits the mask.
SignalSources.block()
DarkroomdCommand.main()
