import Glibc

/// What a process inherits from the one that starts it, and what a program must not depend on.
///
/// | inherited                     | what the programs do with it                                                 |
/// |-------------------------------|------------------------------------------------------------------------------|
/// | closed standard streams       | /dev/null takes their numbers before anything else (CDarkroomEntry)          |
/// | streams that do not block     | they are waited for (`StandardStream`)                                       |
/// | blocked signals               | none is blocked any more; darkroomd and a run block those that they wait for |
/// | SIGCHLD ignored               | its default action: otherwise the exit code of a child is lost               |
/// | SIGINT, SIGHUP … ignored      | they stay ignored, as nohup(1) wants (`SignalSources.heeded`)                |
/// | a umask for the owner's bits  | these bits are given: the program must be able to use what it creates        |
/// | few open files, few threads   | the limit is raised, or said (`DescriptorLimit`, `ThreadLimit`)              |
/// | a current folder that is gone | absolute paths work; a relative one is a missing file                        |
package enum Inheritance {
    /// Called before there is another thread.
    ///
    /// - Parameter blocked: the signals that are blocked from now on, and no others. One that is pending and in no list
    ///   takes effect.
    package static func settle(blocking blocked: [CInt]) {
        signal(SIGCHLD, SIG_DFL)
        let mask = umask(0o077)
        umask(mask & ~0o700)
        var set = sigset_t(blocked)
        pthread_sigmask(SIG_SETMASK, &set, nil)
    }
}
