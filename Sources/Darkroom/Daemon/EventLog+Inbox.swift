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

    /// A file was too large for its batch's answer.
    ///
    /// - Parameter name: its name in `tmp`.
    func givenBack(id: String, _ name: FileName) {
        say(
            .manifestGivenBack, "\(id): its manifest was put back as tmp/\(name.text)",
            [.batch: id, .file: name.text])
    }

    /// The sum of many of which not each was told.
    func notTaken(more count: Int) {
        let files = count == 1 ? "1 more file in inbox/ is" : "\(count) more files in inbox/ are"
        say(.notTaken, "\(files) not taken; inbox.json says why", [.count: "\(count)"])
    }

    // MARK: Control files

    package func steered(id: String, _ steering: Steering) {
        let event: Event
        let words: String
        switch steering.action {
        case .cancel: (event, words) = (.batchCancelled, "is being cancelled")
        case .hold: (event, words) = (.batchHeld, "is held: no further image begins")
        case .release: (event, words) = (.batchReleased, "is released")
        case .retry: (event, words) = (.batchReopened, "is taken up again")
        }
        say(
            event, "\(id) \(words) (by user \(steering.uid))",
            [.batch: id, .user: "\(steering.uid)"])
    }

    package func reopened(_ status: Status, uid: UInt32) {
        say(
            .batchReopened,
            "\(status.id) is taken up again: \(status.counts.new) of "
                + "\(Words.count(status.counts.total, "image")) to be done (by user \(uid))",
            [
                .batch: status.id, .state: status.state.rawValue, .user: "\(uid)",
                .count: "\(status.counts.new)",
            ])
    }

    func controlIdle(_ request: ControlRequest, because reason: String) {
        say(
            .controlIdle, "\(request.file.name.text) does nothing: \(reason)", fields(of: request))
    }

    func controlRefused(_ request: ControlRequest, owner: UInt32?) {
        say(
            .controlRefused,
            "\(request.file.name.text) is refused: it is user \(request.steering.uid)’s, and the "
                + "manifest \(owner.map { "user \($0)’s" } ?? "of an unknown owner")",
            fields(of: request))
    }

    private func fields(of request: ControlRequest) -> Fields {
        [
            .batch: request.file.ids[0], .user: "\(request.steering.uid)",
            .file: request.file.name.text,
        ]
    }
}
