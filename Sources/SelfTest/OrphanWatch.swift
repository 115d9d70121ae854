import CDarkroomShims
import DarkroomCore
import Glibc

/// The processes that daemons leave when they are killed: codec programs and their children, which must end by themselves.
/// They become children of this process, which therefore knows them.
struct OrphanWatch {
    /// The children that this process has had before.
    private let own: Set<pid_t>

    /// Fails if the kernel does not tell the children of a process.
    init?() {
        guard darkroom_adopt_orphans() == 0, let own = Self.children() else { return nil }
        self.own = own
    }

    /// Waits until there are none, for at most ten seconds. All daemons must have ended.
    ///
    /// - Returns: those that still run.
    func remaining() throws(SelfTestError) -> [String] {
        var orphans: Set<pid_t> = []
        let areGone: Bool? = try eventually(within: 10) { () throws(SelfTestError) in
            orphans = (Self.children() ?? []).subtracting(own)
            for orphan in orphans where waitpid(orphan, nil, WNOHANG) == orphan {
                orphans.remove(orphan)
            }
            return orphans.isEmpty ? true : nil
        }
        return areGone == true ? [] : orphans.sorted().map(Self.name)
    }

    /// The processes that were started by a thread of this one, or adopted.
    private static func children() -> Set<pid_t>? {
        do throws(FileError) {
            let threads = try Directory(path: "/proc/self/task")
            var found: Set<pid_t> = []
            for thread in try threads.names() {
                let text = try Directory(thread, in: threads).read("children")
                let numbers = String(decoding: text, as: UTF8.self).split(separator: " ")
                found.formUnion(numbers.compactMap { pid_t($0) })
            }
            return found
        } catch {
            return nil
        }
    }

    private static func name(of process: pid_t) -> String {
        let name = try? Directory(path: "/proc/\(process)").read("comm")
        let text = String(decoding: name ?? [], as: UTF8.self).prefix { $0 != "\n" }
        return "process \(process) (\(text))"
    }
}
