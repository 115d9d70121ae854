import DarkroomAnswer
import DarkroomCore
import DarkroomSpool

/// Records about the inbox.
extension EventLog {
    package func watching(_ path: String) { say(.watching, "Watching \(path)") }

    package func polling(_ path: String, every seconds: Double, because error: FileError) {
        say(
            .polling,
            "Scanning \(path) every \(seconds) seconds, because inotify does not work: "
                + error.message, [.error: error.code])
    }

    package func inboxLost(_ path: String) {
        say(.inboxLost, "\(path) was removed, renamed or unmounted; opening or creating it again")
    }

    package func eventsLost(_ path: String) {
        metrics.overflows.add(1)
        say(.eventsLost, "inotify lost events of \(path); scanning it")
    }

    package func notTaken(_ name: String, because reason: String) {
        say(.notTaken, "inbox/\(name) is not taken: \(reason)", [.file: name])
    }

    /// The sum of files that were not reported one by one.
    func notTaken(more count: Int) {
        let files = count == 1 ? "1 more file in inbox/ is" : "\(count) more files in inbox/ are"
        say(.notTaken, "\(files) not taken; inbox.json has the reasons", [.count: "\(count)"])
    }

    // MARK: Control files

    func controlIdle(_ request: ControlRequest, because reason: String) {
        say(.controlIdle, "\(request.file.name.text) has no effect: \(reason)", fields(of: request))
    }

    func controlRefused(_ request: ControlRequest, owner: UInt32?) {
        say(
            .controlRefused,
            "\(request.file.name.text) is refused: it belongs to user \(request.record.uid), but the "
                + "manifest belongs to \(owner.map { "user \($0)" } ?? "an unknown owner")",
            fields(of: request))
    }

    private func fields(of request: ControlRequest) -> Fields {
        [
            .batch: request.file.ids[0], .user: "\(request.record.uid)",
            .file: request.file.name.text,
        ]
    }
}
