import DarkroomCore
import Glibc
import SystemPackage

extension OriginalsFolder {
    /// The hot folder, which may be there when the other folder is not.
    package struct Hot {
        let folder: Directory
        /// The key of the batch.
        let key: HidingKey?
        let stop: CancellationFlag

        /// The original in its folder; nil if there is no such folder any more.
        func original(of picture: TakenPicture) throws(FileError) -> HotOriginal? {
            do throws(FileError) {
                let folder = try folder.folder(beneath: picture.path.folder)
                return HotOriginal(picture, in: folder, key, stop: stop)
            } catch  where [.noSuchFileOrDirectory, .notDirectory].contains(error.errno) {
                return nil
            }
        }

        /// A missing original in another folder at the same path, such as an empty one on which a share is to be mounted,
        /// proves nothing.
        func requireSameFolder(as picture: TakenPicture) throws(FileError) {
            let inode = UInt64(try folder.information().st_ino)
            if inode == picture.stamp.folder.inode { return }
            throw PlaceFolder.refusal(
                folder.path, "it is not the folder from which the pictures were taken")
        }

        /// Whether an original is known to be in its folder no more, or to be another file now.
        package func lacks(_ picture: TakenPicture) -> Bool {
            do throws(FileError) {
                if try original(of: picture)?.open() != nil { return false }
                try requireSameFolder(as: picture)
                return true
            } catch {
                return false
            }
        }

        /// Gives originals that wait, or that do not move any more, their names back, as far as they can be reached.
        ///
        /// - Returns: the sources of those that had the hidden name.
        @discardableResult
        package func show(_ pictures: some Sequence<TakenPicture>) -> [ByteString] {
            pictures.filter(show).map(\.source)
        }

        /// - Returns: whether it had the hidden name.
        func show(_ picture: TakenPicture) -> Bool {
            guard let original = try? original(of: picture),
                (try? original.isHidden()) == true
            else { return false }
            return (try? original.show()) != nil
        }
    }
}

extension OriginalsFolder.Hot {
    /// nil if it cannot be opened.
    package init?(_ path: String, _ key: HidingKey?, stop: CancellationFlag) {
        guard let folder = try? Directory(path: path) else { return nil }
        self.init(folder: folder, key: key, stop: stop)
    }
}
