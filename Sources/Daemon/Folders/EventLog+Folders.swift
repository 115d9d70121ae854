import DarkroomAnswer
import DarkroomCore
import DarkroomSpool

/// Records about hot folders.
extension EventLog {
    package func folderLost(_ path: String, because reason: String) {
        say(
            .folderLost, "Hot folder \(path): \(reason); no picture in it is taken for gone",
            [.file: path])
    }

    package func picturesTaken(_ count: Int, from path: String, as batch: String) {
        say(
            .picturesTaken, "\(Words.count(count, "picture")) of \(path) taken as batch \(batch)",
            [.batch: batch, .file: path, .count: "\(count)"])
    }

    package func pictureNotTaken(_ path: String, because reason: String) {
        say(.notTaken, "\(path) is not taken: \(reason)", [.file: path])
    }

    /// The answer of a batch was removed before its originals were.
    package func originalsKept(of batch: String, in path: String) {
        say(
            .originalsKept,
            "The originals of batch \(batch) stay in \(path), because its answer does not exist any more",
            [.batch: batch, .file: path])
    }
}
