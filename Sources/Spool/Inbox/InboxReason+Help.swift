import DarkroomAnswer
import DarkroomManifest

extension InboxReason {
    package var help: String {
        switch self {
        case .unreadable:
            "Give the file the group of the inbox, and let the group read it: chgrp GROUP FILE, then chmod g+r FILE. "
                + "Or copy it into tmp and rename the copy into the inbox. The permissions of the inbox must allow "
                + "darkroomd to move the file. It is checked again every 10 seconds."
        case .notAFile: "Put a regular file in its place."
        case .folder:
            "A folder needs exactly one manifest, named \(FolderJob.stem) with its extension, or an empty file with the "
                + "name of a recipe, NAME.\(PictureFolder.recipeExtension), and the group of the inbox with all "
                + "permissions for it: chgrp -R GROUP FOLDER, then chmod -R g+rwX FOLDER. It is checked "
                + "again every 10 seconds. darkroom submit --copy makes such a folder."
        case .picture:
            "Write a manifest that names the picture, and put the manifest into the inbox. Name the picture by its URL, "
                + "or copy it into one of sources.roots and name it by its path."
        case .waitsForItsManifest:
            "It takes effect as soon as its manifest is taken. Remove it if you do not want this."
        case .hasActed:
            "Remove it: the permissions of the inbox do not allow darkroomd to. After a restart it could take effect on a new "
                + "manifest of the same name."
        case .disk:
            "Free some space, or correct the problem that the journal names. darkroomd tries again automatically."
        case .overLimit:
            "It is taken when a waiting batch begins; batches.maxWaiting limits how many may wait."
        case .settling:
            "It is checked when it has not changed for inbox.settle. A file that is renamed into the inbox is taken at "
                + "once."
        case .beingWritten: "It is checked when its writer closes it."
        case .ignoredName:
            "If it is a manifest, rename it when it is complete: to a name that ends in "
                + "\(ManifestFormat.fileExtensionList("or")) and does not begin with a dot."
        case .queued: "It is checked when it is its turn."
        }
    }
}
