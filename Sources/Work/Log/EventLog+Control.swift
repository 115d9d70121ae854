import DarkroomAnswer
import DarkroomCore

/// The effects of commands on batches.
extension EventLog {
    package func obeyed(id: String, _ command: ControlRecord) {
        let form = command.command.form
        say(
            form.event, "\(id) \(form.words) (by user \(command.uid))",
            [.batch: id, .user: "\(command.uid)"])
    }

    package func reopened(_ status: Status, uid: UInt32) {
        let form = ControlCommand.retry.form
        say(
            form.event,
            "\(status.id) \(form.words): \(status.counts.new) of "
                + "\(Words.count(status.counts.total, "image")) to process (by user \(uid))",
            fields(of: status, [.user: "\(uid)", .count: "\(status.counts.new)"]))
    }
}
