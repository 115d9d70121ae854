import DarkroomClient
import DarkroomCore
import DarkroomSpool
import Foundation

/// A folder with a status and outputs, as an argument names it: a folder of results, or the ID of a batch.
///
/// A name without a slash is that of a folder if there is one.
struct ResultFolder {
    /// The path of the folder.
    let path: String

    init(_ place: String, _ spool: SpoolOptions) throws {
        let path = RunPreparation.trimmed(place)
        var isFolder: ObjCBool = false
        if place.contains("/")
            || FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
                && isFolder.boolValue
        {
            self.path = path
            return
        }
        let outbox = try Self.outbox(spool, place)
        guard !place.isEmpty, !place.hasPrefix("."),
            (try? Directory(FileName(place), in: outbox)) != nil
        else {
            throw ClientError(
                .missing, code: "no-batch",
                "\(place): there is neither such a folder nor such a batch in \(outbox.path)")
        }
        self.path = outbox.path(of: FileName(place))
    }

    /// Without a spool, a folder may have been meant.
    private static func outbox(
        _ spool: SpoolOptions, _ place: String
    ) throws(ClientError) -> Directory {
        do {
            return try spool.open().outbox()
        } catch {
            throw ClientError(
                error.exit, code: error.code,
                "\(place): there is no such folder, and no spool with a batch of this ID: \(error.message)",
                remedy: error.remedy)
        }
    }

    func open() throws(ClientError) -> Directory {
        do {
            return try Directory(path: path)
        } catch {
            throw ClientError(error)
        }
    }
}
