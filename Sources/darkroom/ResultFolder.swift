import DarkroomAnswer
import DarkroomClient
import DarkroomCore
import DarkroomSpool

/// A folder with a status and outputs, as an argument names it: a folder of results, or the ID of a batch.
///
/// A name without a slash is an ID if there is such a batch, otherwise that of a folder, as the other commands that take
/// an ID understand it.
struct ResultFolder {
    let path: String

    init(_ place: String, _ spool: SpoolOptions) throws {
        let path = RunPreparation.trimmed(place)
        if place.contains("/") {
            self.path = path
            return
        }
        do {
            self.path = try Self.answer(place, spool)
            Self.tellOfFolder(place)
        } catch {
            guard PictureTree.isFolder(path) else { throw error }
            try Self.requireResults(path, noBatch: error)
            self.path = path
        }
    }

    /// Throws if a folder that has the name of no batch has no results either.
    ///
    /// - Parameter noBatch: the error of the look for a batch.
    static func requireResults(_ path: String, noBatch: ClientError) throws(ClientError) {
        guard let folder = try? Directory(path: path),
            [BatchFile.status, FileName(RunFolders.spoolName)].allSatisfy({
                (try? folder.exists($0)) == false
            })
        else { return }
        throw ClientError(
            .missing, code: noBatch.code,
            "\(path.visible): there is no such batch, and the folder of this name is not one of results: "
                + "it has no status.json",
            remedy: noBatch.remedy)
    }

    /// Says how to name a folder that has the name of a batch.
    static func tellOfFolder(_ id: String) {
        guard !id.isEmpty, PictureTree.isFolder(id) else { return }
        let name = FileName(id).text
        Console.complain(
            "\(name) is a batch and a folder; this is the batch. ./\(name) is the folder.")
    }

    private static func answer(
        _ place: String, _ spool: SpoolOptions
    ) throws(ClientError) -> String {
        let outbox: Directory
        do {
            outbox = try spool.open().outbox()
        } catch {
            // A folder may have been meant.
            throw noSpool(place, error)
        }
        guard !place.isEmpty, !place.hasPrefix("."),
            (try? Directory(FileName(place), in: outbox)) != nil
        else {
            throw ClientError(
                .missing, code: "no-batch",
                "\(place): there is neither such a folder nor such a batch in \(outbox.path)")
        }
        return outbox.path(of: FileName(place))
    }

    /// The error for a name that is no folder either.
    ///
    /// - Parameter error: why there is no spool.
    static func noSpool(_ place: String, _ error: ClientError) -> ClientError {
        ClientError(
            error.exit, code: error.code,
            "\(place.visible): there is no such folder, and no spool with a batch of this ID: \(error.message)",
            remedy: error.remedy)
    }

    func open() throws(ClientError) -> Directory { try asClientError(Directory(path: path)) }
}
