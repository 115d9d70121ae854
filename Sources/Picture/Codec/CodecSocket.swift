import CDarkroomCodecWire
import DarkroomCore
import Glibc
import SystemPackage

/// One end of a socket that carries whole messages. It is closed when the last owner lets it go.
final class CodecSocket: Sendable {
    private let descriptor: Descriptor

    /// What came, or why nothing did.
    enum Heard {
        case message(darkroom_codec_message)
        /// Nothing within the time.
        case nothing
        /// Something that is no message.
        case nonsense
        /// The other side is gone.
        case gone
        /// The system could not look or take it.
        case refused(Errno)
    }

    private init(owning number: CInt) { descriptor = Descriptor(owning: number) }

    static func pair() throws(Errno) -> (CodecSocket, CodecSocket) {
        var ends: [CInt] = [-1, -1]
        guard darkroom_codec_pair(&ends) == 0 else { throw Errno(rawValue: errno) }
        return (CodecSocket(owning: ends[0]), CodecSocket(owning: ends[1]))
    }

    var number: CInt { descriptor.number }

    /// Why a message was not sent.
    enum Unsent: Equatable {
        /// The other side is gone.
        case gone
        /// It has left many messages unread.
        case full
        case refused(Errno)

        /// By `errno`.
        init(_ number: CInt) {
            switch number {
            case EPIPE, ECONNRESET: self = .gone
            case EAGAIN: self = .full
            default: self = .refused(Errno(rawValue: number))
            }
        }
    }

    /// - Parameter descriptors: at most `DARKROOM_CODEC_DESCRIPTORS`, which the other side gets copies of.
    /// - Returns: nil if it is sent.
    func send(_ message: darkroom_codec_message, _ descriptors: [CInt] = []) -> Unsent? {
        withUnsafePointer(to: message) {
            darkroom_codec_send(number, $0, descriptors, CInt(descriptors.count))
                ? nil : Unsent(errno)
        }
    }

    /// Sends a message without waiting.
    ///
    /// - Returns: nil if it is sent.
    func post(_ message: darkroom_codec_message) -> Unsent? {
        withUnsafePointer(to: message) {
            darkroom_codec_post(number, $0) ? nil : Unsent(errno)
        }
    }

    /// Waits for a message.
    func hear(milliseconds: CInt) -> Heard {
        var message = darkroom_codec_message()
        return switch darkroom_codec_hear(number, &message, milliseconds) {
        case DARKROOM_CODEC_HEARD: .message(message)
        case DARKROOM_CODEC_SILENT: .nothing
        case DARKROOM_CODEC_NONSENSE: .nonsense
        case DARKROOM_CODEC_REFUSED: .refused(Errno(rawValue: errno))
        default: .gone
        }
    }
}

extension darkroom_codec_message {
    init(_ kind: darkroom_codec_kind) {
        self.init()
        self.kind = kind.rawValue
    }

    func isA(_ kind: darkroom_codec_kind) -> Bool { self.kind == kind.rawValue }

    /// Its text for people.
    var words: String {
        withUnsafePointer(to: self) {
            String(ofHostile: darkroom_codec_words($0), most: Int(DARKROOM_CODEC_TEXT))
        }
    }
}

extension String {
    /// A text of a program that may be hostile, up to its first zero: control characters become blanks, and what is no UTF-8
    /// is replaced.
    ///
    /// - Parameter most: the number of its bytes, if none is zero.
    init(ofHostile start: UnsafePointer<CChar>, most: Int) {
        let bytes = UnsafeRawBufferPointer(start: start, count: most)
        let scalars = String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self).unicodeScalars.map {
            $0.properties.generalCategory == .control ? " " : $0
        }
        self.init(String.UnicodeScalarView(scalars))
    }
}
