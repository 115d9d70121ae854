import DarkroomCore
import DarkroomSpool

/// What is said about the inbox.
extension EventLog {
    package func watching(_ path: String) { say(.watching, "Watching \(path)") }

    package func polling(_ path: String, every seconds: Double, because error: FileError) {
        say(
            .polling,
            "Looking into \(path) every \(seconds) seconds, for inotify does not work: "
                + error.message, [.error: error.code])
    }

    package func inboxLost(_ path: String) {
        say(.inboxLost, "\(path) was removed, renamed or unmounted; putting it back")
    }

    package func eventsLost(_ path: String) {
        metrics.overflows.add(1)
        say(.eventsLost, "inotify lost events of \(path); scanning it")
    }

    package func notTaken(_ name: String, because reason: String) {
        say(.notTaken, "inbox/\(name) is not taken: \(reason)", [.file: name])
    }

    /// The sum of many of which not each was told.
    func notTaken(more count: Int) {
        let files = count == 1 ? "1 more file in inbox/ is" : "\(count) more files in inbox/ are"
        say(.notTaken, "\(files) not taken; inbox.json says why", [.count: "\(count)"])
    }

    // MARK: Control files

    func controlIdle(_ request: ControlRequest, because reason: String) {
        say(
            .controlIdle, "\(request.file.name.text) does nothing: \(reason)", fields(of: request))
    }

    func controlRefused(_ request: ControlRequest, owner: UInt32?) {
        say(
            .controlRefused,
            "\(request.file.name.text) is refused: it is user \(request.record.uid)’s, and the "
                + "manifest \(owner.map { "user \($0)’s" } ?? "of an unknown owner")",
            fields(of: request))
    }

    private func fields(of request: ControlRequest) -> Fields {
        [
            .batch: request.file.ids[0], .user: "\(request.record.uid)",
            .file: request.file.name.text,
        ]
    }

    func reportFailed(_ error: FileError) {
        say(.reportFailed, "inbox.json is not up to date: \(error.message)", [.error: error.code])
    }
}
