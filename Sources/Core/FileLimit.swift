/// The longest files that are read whole, in bytes. A longer one is an error (`FileError.tooLong`): a damaged file system
/// or somebody's sparse file must not take all memory.
///
/// Files that grow with a batch (the status, the journal) are read in pieces; manifests, control files, progress files and
/// recipes have limits of their own.
package enum FileLimit {
    /// A table of the kernel. A mount has about 100 bytes in the mount table.
    package static let table = 64 << 20
    /// A file of settings.
    package static let configuration = 16 << 20
    /// A bundle of certificates; a usual one has 200 KiB.
    package static let certificates = 64 << 20
    /// What a program of the system answers.
    package static let answer = 16 << 20
    /// A cursor has about 200 bytes for each batch of the outbox, and twice as much before it is written anew.
    package static let cursor = 512 << 20
    /// One line of a file that is read line by line.
    package static let line = 256 << 20
    /// Any other file that darkroomd or a command has written, and the copy of an accepted manifest.
    package static let other = 2 << 30
}
