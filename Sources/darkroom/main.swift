DarkroomCommand.start()
