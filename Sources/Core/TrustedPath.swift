import Glibc
import SystemPackage

/// Whose changes of a path are trusted: of the folders above a folder of somebody else, and of the symbolic links among
/// them. Whoever may change one of them can put another folder in its place, also by a link to one that only the daemon
/// can read. So each may be changed by these only: root, the daemon, and whoever owns the folder that was opened, who
/// gives nothing away that is not his.
///
/// | on the path                                    | may be                                             |
/// |------------------------------------------------|----------------------------------------------------|
/// | a folder                                       | of a trusted user                                  |
/// | a folder that its group may write to           | of a trusted group; of any if it is sticky         |
/// | a folder that everybody may write to           | sticky                                             |
/// | a symbolic link                                | of a trusted user                                  |
package struct TrustedPath {
    let users: [uid_t]
    let groups: [gid_t]
}

extension TrustedPath {
    /// - Parameters:
    ///   - folder: the attributes of the open folder.
    ///   - user: the user of the daemon.
    package init(to folder: stat, for user: uid_t = geteuid()) {
        self.init(users: [0, user, folder.st_uid], groups: [0, folder.st_gid])
    }

    /// What is wrong with the path to an open folder, and with the folders that contain it after all links are followed;
    /// nil if nothing is.
    package func problem(_ folder: Directory) -> String? {
        var paths = [FilePath(folder.path).lexicallyNormalized()]
        if let pointer = realpath(folder.path, nil) {
            defer { free(pointer) }
            // Not `realPath`: a path that is not UTF-8 is looked at, too, and refused.
            paths.append(FilePath(String(cString: pointer)))
        }
        return paths.lazy.compactMap(problem).first
    }

    private func problem(_ path: FilePath) -> String? {
        var place = FilePath("/")
        for name in path.components {
            if let words = problem(ofFolder: place.string) { return words }
            place.append(name)
            if let words = problem(ofEntry: place.string) { return words }
        }
        return nil
    }

    private func problem(ofFolder path: String) -> String? {
        guard let information = stat(path: path) else { return Self.unknown(path, errno) }
        if !users.contains(information.st_uid) { return words(path, information.st_uid) }
        if information.st_mode & S_ISVTX != 0 { return nil }
        if information.st_mode & S_IWOTH != 0 {
            return "everybody may write to \(path), and put another folder in its place"
        }
        if information.st_mode & S_IWGRP != 0, !groups.contains(information.st_gid) {
            return
                "group \(information.st_gid) may write to \(path), and put another folder in its place"
        }
        return nil
    }

    private func problem(ofEntry path: String) -> String? {
        guard let information = stat(path: path, followsLink: false) else {
            return Self.unknown(path, errno)
        }
        return users.contains(information.st_uid) ? nil : words(path, information.st_uid)
    }

    private func words(_ path: String, _ user: uid_t) -> String {
        "\(path) belongs to user \(user), who could put another folder in its place"
    }

    private static func unknown(_ path: String, _ error: CInt) -> String {
        "\(path) cannot be examined: \(Errno(rawValue: error))"
    }
}
