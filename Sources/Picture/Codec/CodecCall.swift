import CDarkroomCodecWire
import DarkroomCore
import Glibc
import SystemPackage

/// The conversation with the child that works on one picture, and the memory that both share. It belongs to one thread at
/// a time.
///
/// Nothing that the child says is trusted: each message is checked before it is used, and the shared memory holds only
/// pixels and bytes, which may change at any time.
final class CodecCall {
    /// What a child may use and make.
    enum Bounds {
        /// A slot holds at least a row.
        static let slots = 4

        /// Until the header is known. A library needs this for itself.
        static let memoryAtFirst = 64 << 20

        /// A row of the largest side with four channels of 16 bits, at most 16 MiB. Memory that is not used is only
        /// addresses.
        static func slotBytes(_ limits: PictureLimits) -> Int {
            min(16 << 20, max(1 << 20, limits.side * 8)) / 4096 * 4096
        }

        /// To encode: a band, and at least a row.
        static func slotBytes(row: Int) -> Int {
            (max(Int(DARKROOM_CODEC_BAND), row) + 4095) / 4096 * 4096
        }

        /// What a library may take beyond what its program has counted.
        static let spare = 16 << 20
    }

    let program: CodecProgram
    private let child: CodecProgram.Child
    private let name: String
    private let isEncoding: Bool
    private let checkpoint: () -> Bool
    /// In seconds.
    private let mostSilence: CInt
    private let memory: UnsafeMutableRawPointer
    private let memoryBytes: Int
    let slotBytes: Int
    private(set) var warnings: [String] = []
    /// Whether an encoder has left out the profile.
    private(set) var lacksProfile = false
    /// The bytes of the smallest trial, if an encoder has not found a quality with few enough.
    private(set) var smallest: Int?
    private var isOver = false
    /// Why it has not got a message that it waits for: it has left more messages unread than one that works, or the
    /// system has refused to pass it on.
    private var unsent: CodecSocket.Unsent?

    /// Begins to encode a picture.
    ///
    /// - Parameters:
    ///   - name: the name of the file in messages.
    ///   - memory: what the child may use beyond what it had at its start.
    ///   - rowBytes: a slot has at least one row.
    convenience init(
        encoding name: String, memory: Int, rowBytes: Int, _ limits: PictureLimits,
        checkpoint: @escaping () -> Bool, by program: CodecProgram
    ) throws(PictureError) {
        var order = darkroom_codec_message(DARKROOM_CODEC_ENCODE)
        order.fill(limits)
        order.slot_bytes = UInt32(clamping: Bounds.slotBytes(row: rowBytes))
        order.limits.memory_at_first = UInt64(memory + Bounds.spare)
        order.limits.memory_at_most = order.limits.memory_at_first
        try self.init(order, [], name, limits, checkpoint, program)
    }

    /// Gives a child an order.
    ///
    /// - Parameter source: what it reads, if it reads anything.
    init(
        _ order: darkroom_codec_message, _ source: [CInt], _ name: String,
        _ limits: PictureLimits, _ checkpoint: @escaping () -> Bool, _ program: CodecProgram
    ) throws(PictureError) {
        isEncoding = order.isA(DARKROOM_CODEC_ENCODE)
        slotBytes = Int(order.slot_bytes)
        // The second half is for the bytes of an encoder.
        memoryBytes = slotBytes * Bounds.slots * (isEncoding ? 2 : 1)
        let shared = try Self.share(memoryBytes, name: name)
        memory = shared.start
        do throws(PictureError) {
            child = try program.begin(order, [shared.descriptor.number] + source)
        } catch {
            munmap(shared.start, memoryBytes)
            throw error.naming(name, or: [])
        }
        self.program = program
        self.name = name
        self.checkpoint = checkpoint
        mostSilence = CInt(clamping: limits.codecSilence)
    }

    deinit {
        program.forget(child, kills: !isOver)
        munmap(memory, memoryBytes)
    }

    private struct Shared: ~Copyable {
        let descriptor: Descriptor
        let start: UnsafeMutableRawPointer
    }

    private static func share(_ bytes: Int, name: String) throws(PictureError) -> Shared {
        let number = darkroom_codec_memory(bytes)
        guard number >= 0 else { throw noFile(name, "sharing memory", Errno(rawValue: errno)) }
        let descriptor = Descriptor(owning: number)
        guard
            let start = mmap(
                nil, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor.number, 0),
            start != MAP_FAILED
        else { throw .outOfMemory(name, "sharing memory: \(Errno(rawValue: errno))") }
        return Shared(descriptor: descriptor, start: start)
    }

    /// The error if there is no file in memory. If too many are open, the picture waits.
    static func noFile(_ name: String, _ step: String, _ cause: Errno) -> PictureError {
        PictureError(
            .outOfMemory, "\(name): \(step): \(cause)", isTransient: true,
            storageFailure: cause.storageFailure)
    }

    // MARK: The conversation

    /// Waits for what the child says next, other than warnings.
    ///
    /// - Parameter step: what this process does, for messages: `reading the header`.
    func hear(_ step: String) throws(PictureError) -> darkroom_codec_message {
        var silence: CInt = 0
        while true {
            switch unsent {
            case .full: throw nonsense(step)
            case .refused(let cause): throw refused(step, cause)
            // What the child has said before its end is still there.
            case .gone, nil: break
            }
            switch child.socket.hear(milliseconds: Self.slice) {
            case .nothing:
                try checkCancellation(step)
                silence += Self.slice
                if silence / 1000 >= mostSilence { throw silent(step) }
            case .gone: throw ended(step)
            case .refused(let cause): throw refused(step, cause)
            case .nonsense: throw nonsense(step)
            case .message(let message) where message.isA(DARKROOM_CODEC_WARNING):
                // A hostile child could go on for ever.
                try checkCancellation(step)
                if isEncoding, message.bits == DARKROOM_CODEC_METADATA.rawValue {
                    lacksProfile = true
                }
                if warnings.count < Self.mostWarnings { warnings.append(message.words) }
            case .message(let message) where message.isA(DARKROOM_CODEC_FAILURE):
                throw failure(message, step)
            case .message(let message): return message
            }
        }
    }

    func checkCancellation(_ step: String) throws(PictureError) {
        if !checkpoint() { throw PictureError(.cancelled, "\(name): cancelled while \(step)") }
    }

    /// A cancellation is noticed within this time, in milliseconds.
    private static let slice: CInt = 100
    private static let mostWarnings = 16

    func say(_ message: darkroom_codec_message) {
        // If the child is gone, the next message is missing. One that never reads must not stop this process.
        unsent = unsent ?? child.socket.post(message)
    }

    /// Permits it the memory for the picture, beyond what it had at its start.
    func permit(memory: Int) { unsent = unsent ?? program.permit(UInt64(memory), child) }

    /// The same, and lets it go on.
    ///
    /// - Parameter divisor: of the sides.
    func go(memory: Int, divisor: Int) {
        permit(memory: memory)
        var message = darkroom_codec_message(DARKROOM_CODEC_GO)
        message.count = UInt32(divisor)
        say(message)
    }

    /// All slots, one behind the other.
    var slots: UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(start: memory, count: memoryBytes)
    }

    /// The bytes of a slot.
    ///
    /// - Throws: if there is no such slot, or the slot is smaller.
    func slot(
        _ message: darkroom_codec_message, bytes: Int, _ step: String
    ) throws(PictureError) -> UnsafeMutableRawBufferPointer {
        guard message.slot < UInt32(Bounds.slots), (0...slotBytes).contains(bytes) else {
            throw nonsense(step)
        }
        return UnsafeMutableRawBufferPointer(
            start: memory + Int(message.slot) * slotBytes, count: bytes)
    }

    /// The bytes of the encoded picture in one of the child's slots.
    func encoded(
        _ message: darkroom_codec_message, _ step: String
    ) throws(PictureError) -> UnsafeRawBufferPointer {
        let slots = UInt32(Bounds.slots)
        guard (slots..<2 * slots).contains(message.slot), message.bytes > 0,
            message.bytes <= UInt64(slotBytes)
        else { throw nonsense(step) }
        return UnsafeRawBufferPointer(
            start: memory + Int(message.slot) * slotBytes, count: Int(message.bytes))
    }

    func free(slot: UInt32) {
        var message = darkroom_codec_message(DARKROOM_CODEC_FREE)
        message.slot = slot
        say(message)
    }

    /// Everything has been said: the child ends by itself.
    func finish() { isOver = true }

    // MARK: Errors

    /// An error of the program.
    ///
    /// - Parameter words: what follows its name.
    private func failed(
        _ step: String, _ words: String, _ code: PictureError.Code = .codecCrashed,
        isTransient: Bool = false
    ) -> PictureError {
        PictureError(
            code, "\(name): \(step): the program darkroom-codec-\(program.name) \(words)",
            isTransient: isTransient)
    }

    func nonsense(_ step: String) -> PictureError {
        failed(step, "says something that makes no sense")
    }

    /// The error if the system does not pass on messages.
    private func refused(_ step: String, _ cause: Errno) -> PictureError {
        PictureError(
            .codecCrashed,
            "\(name): \(step): talking with the program darkroom-codec-\(program.name): \(cause)",
            isTransient: true, storageFailure: cause.storageFailure)
    }

    private func silent(_ step: String) -> PictureError {
        failed(step, "has said nothing for \(mostSilence) seconds", .codecTime)
    }

    private func failure(_ message: darkroom_codec_message, _ step: String) -> PictureError {
        isOver = true
        let kind: PictureError.Code? =
            switch darkroom_codec_result(rawValue: message.bits) {
            case DARKROOM_CODEC_TRUNCATED where !isEncoding: .pictureTruncated
            case DARKROOM_CODEC_DAMAGED where !isEncoding: .pictureDamaged
            // A library that was built without an encoder.
            case DARKROOM_CODEC_UNSUPPORTED: isEncoding ? .codecMissing : .unsupportedFormat
            case DARKROOM_CODEC_TOO_LARGE: .tooManyPixels
            case DARKROOM_CODEC_MEMORY: .memoryLimit
            case DARKROOM_CODEC_NO_PAGE: .pageMissing
            case DARKROOM_CODEC_TOO_MANY_BYTES where isEncoding: .tooManyBytes
            case DARKROOM_CODEC_IO: isEncoding ? .writeFailed : .readFailed
            default: nil
            }
        guard let kind else { return nonsense(step) }
        if kind == .tooManyBytes { smallest = Int(message.words) }
        let isTooLarge = isEncoding && kind == .memoryLimit
        let remedy = isTooLarge ? "; a smaller effort or a smaller picture needs less" : ""
        return PictureError(
            kind, "\(name): \(step): \(message.words)\(remedy)",
            isTransient: kind == .readFailed)
    }

    /// The error after the child has ended without a word.
    private func ended(_ step: String) -> PictureError {
        isOver = true
        guard let ended = program.end(of: child) else {
            return failed(step, "was ended", isTransient: true)
        }
        // As waitpid(2) encodes it.
        let signal = ended.status & 0x7F
        switch signal {
        case SIGXCPU:
            let seconds = (ended.processor_microseconds + 500_000) / 1_000_000
            return failed(step, "has used \(seconds) seconds of the processor", .codecTime)
        case SIGBUS where !isEncoding:
            return PictureError(
                .readFailed, "\(name): \(step): the file became shorter, or its disk failed",
                isTransient: true)
        case SIGKILL:
            // The kernel ends a child before the daemon when memory is short.
            return failed(step, "was killed; the machine may be short of memory", isTransient: true)
        case SIGSYS:
            return failed(step, "was ended because it made a system call that it may not make")
        case 0:
            let status = ended.status >> 8 & 0xFF
            return failed(
                step, "ended with status \(status)",
                isTransient: [DARKROOM_CODEC_NOT_BEGUN, DARKROOM_CODEC_CUT_OFF].contains {
                    Int($0) == Int(status)
                })
        default: return failed(step, "was ended by signal \(signal)")
        }
    }
}

extension darkroom_codec_message {
    mutating func fill(_ bounds: PictureLimits) {
        slots = UInt32(CodecCall.Bounds.slots)
        slot_bytes = UInt32(clamping: CodecCall.Bounds.slotBytes(bounds))
        limits.memory_at_first = UInt64(CodecCall.Bounds.memoryAtFirst)
        limits.memory_at_most =
            limits.memory_at_first + UInt64(bounds.wholePictureBytes + CodecCall.Bounds.spare)
        limits.seconds = UInt32(clamping: bounds.codecSeconds)
        limits.largest_side = UInt32(clamping: bounds.side)
        limits.most_pixels = UInt64(bounds.pixels)
        limits.most_metadata = UInt32(clamping: bounds.ancillaryBytes)
    }
}
