import CDarkroomCodecWire
import DarkroomCore
import Glibc
import Synchronization
import SystemPackage

/// The program of a library that reads or writes pictures: `darkroom-codec-webp`. It waits in a process of its own, and
/// forks for each picture. The child confines itself before it reads the first byte. So a picture that abuses a mistake
/// of the library reaches neither this process nor another picture. `darkroom_codec_wire.h` has the conversation.
///
/// | state | event | next state |
/// |---|---|---|
/// | absent | a picture comes, and the program says that it is ready | waiting |
/// | | a picture comes, and the program does not | absent; the picture fails |
/// | waiting | a picture comes | waiting, with one more child |
/// | | it has had no child for a minute, and ends | absent |
/// | | it is killed, and its children with it | absent; their pictures fail |
package final class CodecProgram: Sendable {
    /// The word in the name of the program: `webp`.
    package let name: String

    private struct Process {
        let control: CodecSocket
        /// Children whose pictures may still ask how they ended.
        var watched: Set<UInt64> = []
        /// Those of them that have ended.
        var ended: [UInt64: darkroom_codec_ended] = [:]

        /// Takes what the program says of its children. If this were not read, the program would wait for it some time.
        ///
        /// - Parameter milliseconds: how long to wait for something, if there is nothing.
        /// - Returns: false if the program is gone.
        mutating func hear(milliseconds: CInt) -> Bool {
            var patience = milliseconds
            while true {
                switch control.hear(milliseconds: patience) {
                case .message(let message):
                    if message.isA(DARKROOM_CODEC_ENDED), watched.contains(message.number) {
                        ended[message.number] = message.ended
                    }
                    patience = 0
                case .nothing, .refused: return patience == 0
                case .nonsense, .gone: return false
                }
            }
        }
    }

    /// What a program says of itself when it starts.
    struct Library: Sendable {
        /// The name and the version: `libwebp 1.2.4`.
        let version: String
        /// Tells the program and its libraries from others of the same version (`darkroom_loaded_identity`).
        let identity: String
    }

    private struct State {
        /// nil while it is absent.
        var process: Process?
        /// What the program has said of itself last.
        var library: Library?
        var lastNumber: UInt64 = 0
    }

    private let state = Mutex(State())

    /// How often a program or a library of it was another one than before, since this process began. What was made with
    /// one count is not used with another one, and an identity that was asked with one is not that of what is made with
    /// another one.
    package static var replacements: Int { replaced.load(ordering: .acquiring) }
    private static let replaced = Atomic(0)

    package init(_ name: String) { self.name = name }

    /// The program's file: beside this program, as after a build, or where the packages put it; nil if it is not
    /// installed.
    package var path: String? {
        ["darkroom-codec-\(name)", "../lib/darkroom/codecs/\(name)"]
            .compactMap { place in Self.folder.map { "\($0)/\(place)" } }
            .first { access($0, X_OK) == 0 }
    }

    /// The Debian package that has everything that is always there.
    static let mainPackage = "darkroom"

    /// The Debian package that has the program.
    var debianPackage: String {
        ["heif", "jxl"].contains(name) ? "darkroom-\(name)" : Self.mainPackage
    }

    /// The folder of this program's own file.
    private static let folder: String? = {
        let room = Int(PATH_MAX)
        let path = String(unsafeUninitializedCapacity: room) { bytes in
            guard let start = bytes.baseAddress else { return 0 }
            return start.withMemoryRebound(to: CChar.self, capacity: room) {
                max(0, readlink("/proc/self/exe", $0, room))
            }
        }
        return path.lastIndex(of: "/").map { String(path[..<$0]) }
    }()

    /// The program's library. Starts the program.
    ///
    /// - Throws: `codecMissing`, `codecCrashed`.
    func library() throws(PictureError) -> Library {
        try state.withLock { state throws(PictureError) in
            // One that has ended may have been replaced by another one.
            if let library = state.library, state.process?.hear(milliseconds: 0) == true {
                return library
            }
            guard let path else { throw missing("read") }
            return try start(path, &state)
        }
    }

    /// The same, if the program has ever run. This starts nothing.
    var knownLibrary: Library? { state.withLock { $0.library } }

    // MARK: Children

    /// The child that works on one picture.
    struct Child {
        let number: UInt64
        /// This side of the conversation.
        let socket: CodecSocket
    }

    /// Has a child made.
    ///
    /// - Parameters:
    ///   - order: without its number.
    ///   - descriptors: the shared memory and, to decode, the source.
    func begin(
        _ order: darkroom_codec_message, _ descriptors: [CInt]
    ) throws(PictureError) -> Child {
        let begun = state.withLock { state in
            Result { () throws(PictureError) in try begin(order, descriptors, &state) }
        }
        return try begun.get()
    }

    private func begin(
        _ order: darkroom_codec_message, _ descriptors: [CInt], _ state: inout State
    ) throws(PictureError) -> Child {
        let (mine, theirs) = try pair()
        state.lastNumber += 1
        var order = order
        order.number = state.lastNumber
        let descriptors = [theirs.number] + descriptors
        if try !give(order, descriptors, &state) {
            guard let path else {
                throw missing(order.isA(DARKROOM_CODEC_ENCODE) ? "write" : "read")
            }
            _ = try start(path, &state)
            guard try give(order, descriptors, &state) else {
                state.process = nil
                throw failed("it ended before it took the picture", isTransient: true)
            }
        }
        state.process?.watched.insert(order.number)
        FaultPoint.codecOrdered.pass()
        return Child(number: order.number, socket: mine)
    }

    /// Sends an order.
    ///
    /// - Returns: false if the program is absent, or has ended since it was last used.
    private func give(
        _ order: darkroom_codec_message, _ descriptors: [CInt], _ state: inout State
    ) throws(PictureError) -> Bool {
        guard state.process?.hear(milliseconds: 0) == true, let process = state.process else {
            return false
        }
        switch process.control.send(order, descriptors) {
        case nil: return true
        case .gone: return false
        // The program is there, and works on other pictures.
        case .full: throw failed("passing on the picture", .resourceTemporarilyUnavailable)
        case .refused(let cause): throw failed("passing on the picture", cause)
        }
    }

    /// Permits a child this much memory beyond what it had at its start. The child waits for that before it uses it.
    ///
    /// - Returns: why that could not be said; nil otherwise.
    func permit(_ bytes: UInt64, _ child: Child) -> CodecSocket.Unsent? {
        say(DARKROOM_CODEC_LIMIT, to: child, bytes: bytes)
    }

    /// A picture has no use for its child any more.
    ///
    /// - Parameter kills: whether the child is ended, because it may not end by itself.
    func forget(_ child: Child, kills: Bool) {
        if kills { say(DARKROOM_CODEC_KILL, to: child) }
        state.withLock { state in
            state.process?.watched.remove(child.number)
            state.process?.ended[child.number] = nil
            if state.process?.hear(milliseconds: 0) == false { state.process = nil }
        }
    }

    @discardableResult
    private func say(
        _ kind: darkroom_codec_kind, to child: Child, bytes: UInt64 = 0
    ) -> CodecSocket.Unsent? {
        var message = darkroom_codec_message(kind)
        message.number = child.number
        message.bytes = bytes
        return state.withLock { $0.process?.control.send(message) ?? nil }
    }

    /// Waits for the end of a child that has left the conversation, and tells how it ended; nil if the program has ended
    /// with it.
    func end(of child: Child) -> darkroom_codec_ended? {
        state.withLock { state in
            while state.process?.watched.contains(child.number) == true {
                if let ended = state.process?.ended[child.number] { return ended }
                if state.process?.hear(milliseconds: Self.patience) == false { state.process = nil }
            }
            return nil
        }
    }

    // MARK: The process

    /// The time for what the program does at once, in milliseconds. It is long because the machine may be busy.
    private static let patience: CInt = 30_000

    /// - Returns: its library.
    private func start(_ path: String, _ state: inout State) throws(PictureError) -> Library {
        state.process = nil
        let (control, identifier) = try launch(path)
        let heard = control.hear(milliseconds: Self.patience)
        guard case .message(let message) = heard, message.isA(DARKROOM_CODEC_READY),
            message.count == UInt32(DARKROOM_CODEC_VERSION)
        else {
            let status = Self.end(identifier)
            if case .refused(let cause) = heard { throw failed("waiting for it", cause) }
            if case .gone = heard, Self.lacked(status) {
                throw failed("starting it: the system lacks memory or files", isTransient: true)
            }
            throw failed("it does not start as version \(DARKROOM_CODEC_VERSION)")
        }
        if let cause = Self.reap(identifier) {
            _ = Self.end(identifier)
            throw failed("starting a thread that waits for its end", cause)
        }
        FaultPoint.codecReady.pass()
        state.process = Process(control: control)
        let library = Library(version: message.words, identity: String(message.number, radix: 16))
        if let former = state.library, former.identity != library.identity {
            Self.replaced.add(1, ordering: .releasing)
        }
        state.library = library
        return library
    }

    /// Starts the program with the other end of a socket. This process keeps none of that end, so it is told at once if
    /// the program ends.
    private func launch(_ path: String) throws(PictureError) -> (CodecSocket, pid_t) {
        let (mine, theirs) = try pair()
        let identifier = darkroom_codec_start(path, theirs.number)
        guard identifier > 0 else { throw failed("starting it", Errno(rawValue: errno)) }
        withExtendedLifetime(theirs) {}
        return (mine, identifier)
    }

    /// Ends the process if it still runs.
    ///
    /// - Returns: how it ended, as waitpid(2) encodes it.
    private static func end(_ identifier: pid_t) -> CInt {
        var status: CInt = 0
        // One that is ending tells why.
        for _ in 0..<100 {
            if waitpid(identifier, &status, WNOHANG) == identifier { return status }
            usleep(1000)
        }
        kill(identifier, SIGKILL)
        while waitpid(identifier, &status, 0) < 0, errno == EINTR {}
        return status
    }

    /// Whether a process that has ended before it was ready may start another time.
    ///
    /// - Parameter status: as waitpid(2) encodes it.
    private static func lacked(_ status: CInt) -> Bool {
        [DARKROOM_CODEC_NOT_BEGUN << 8, DARKROOM_CODEC_CUT_OFF << 8, Int(SIGKILL)]
            .contains(Int(status))
    }

    /// Waits in a thread for the end of the process, so that it is not left as a zombie.
    ///
    /// - Returns: why there is no thread; nil otherwise.
    private static func reap(_ identifier: pid_t) -> Errno? {
        var thread = pthread_t()
        let result = pthread_create(
            &thread, nil,
            { argument in
                let identifier = pid_t(Int(bitPattern: argument))
                while waitpid(identifier, nil, 0) < 0, errno == EINTR {}
                return nil
            }, UnsafeMutableRawPointer(bitPattern: Int(identifier)))
        guard result == 0 else { return Errno(rawValue: result) }
        pthread_detach(thread)
        return nil
    }

    private func pair() throws(PictureError) -> (CodecSocket, CodecSocket) {
        do {
            return try CodecSocket.pair()
        } catch {
            throw failed("opening a socket", error)
        }
    }

    private func failed(_ words: String, isTransient: Bool = false) -> PictureError {
        PictureError(
            .codecCrashed, "the program darkroom-codec-\(name): \(words)",
            isTransient: isTransient)
    }

    /// The failure of a system call. If it lacks files, the picture waits, as one whose file cannot be opened does.
    private func failed(_ step: String, _ cause: Errno) -> PictureError {
        PictureError(
            .codecCrashed, "the program darkroom-codec-\(name): \(step): \(cause)",
            isTransient: true,
            storageFailure: cause.storageFailure)
    }

    /// The error if it is not installed.
    ///
    /// - Parameter action: `read` or `write`.
    func missing(_ action: String) -> PictureError {
        PictureError(
            .codecMissing,
            "the program darkroom-codec-\(name), which \(action)s it, is not installed: install the"
                + " package \(debianPackage)")
    }
}
