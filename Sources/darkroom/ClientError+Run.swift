import DarkroomClient
import DarkroomCore
import DarkroomRun
import Glibc
import SystemPackage

extension ClientError {
    /// - Parameter isOfPictures: whether the manifest was made of pictures and options.
    init(_ error: RunError, isOfPictures: Bool = false) {
        let exit: ClientExit
        var message = error.message
        var remedy: String?
        switch error {
        case .inUse:
            exit = .tryAgain
            remedy = "When that process has ended, the same command continues."
        case .otherManifest(let folder, _, let change):
            exit = .rejected
            remedy = "Name another folder with -o, or remove this one."
            if isOfPictures, change != .recipe {
                message =
                    "\(folder) has a run of other pictures, of another order of them, or with other options"
            } else if change != .other {
                remedy =
                    "Name another folder with -o, or remove this one to make all its pictures anew."
            }
        case .otherBase, .otherSetting, .otherShards:
            exit = .rejected
            remedy = "Name another folder with -o, or remove this one."
        case .otherCount(let folder, _, _):
            exit = .rejected
            remedy =
                "Run all shards of the former count and darkroom merge \(folder.shellQuoted) first, or name another folder with -o."
        case .noShard: exit = .usage
        case .noRun, .notMerged: exit = .missing
        case .notDivided: exit = .rejected
        case .changing, .unfinished:
            exit = .tryAgain
            remedy = "When it has ended, the same command works."
        case .inTheWay:
            exit = .cannotCreate
            remedy =
                "Name another folder with -o. If an earlier run has written it, the hidden folder .darkroom is missing: put it back, or remove the file to make all anew."
        case .outputChanged:
            exit = .rejected
            remedy =
                "Move it away. Then the same command makes it again. If there are more, darkroom verify lists them all."
        case .copyChanged:
            exit = .rejected
            remedy = "Move it away. Then darkroom run writes it again."
        case .link:
            exit = .rejected
            remedy = "Remove the link, or put the file itself there."
        case .unusable: exit = .rejected
        case .unreadable:
            exit = .rejected
            remedy = "\(Self.otherForm) Restore it, or remove the folder to make all anew."
        case .cannotCreate: exit = .cannotCreate
        case .notPermitted(let error):
            exit = .noPermission
            remedy = Self.owner(of: error.path).map {
                "It belongs to user \($0). Run the command as this user, or name another folder."
            }
        case .foreign(let folder):
            exit = .noPermission
            switch folder.reason {
            case .owner:
                remedy =
                    "Whoever can write to it could exchange files during the run. Run the command as its user, name another folder, or remove this one."
            case .writable:
                remedy =
                    "They could exchange files during the run. Take their right to write away, or name another folder."
            }
        case .file, .failure:
            exit = .ioError
            if error.storageFailure == .full { remedy = "Free space first." }
        }
        self.init(exit, code: error.code, message, remedy: remedy)
    }

    /// The ID of a file's owner, or of the owner of the folder in which it is; nil if nobody can tell.
    private static func owner(of path: String) -> uid_t? {
        let folder = FilePath(path).removingLastComponent().string
        let found = stat(path: path, followsLink: false) ?? stat(path: folder, followsLink: false)
        return found?.st_uid
    }
}
