import CDarkroomShims
import DarkroomCore
import DarkroomFetch
import DarkroomPicture
import Dispatch
import Glibc
import SystemPackage

/// Reads the headers of sources as the daemon would, with its rules for hosts, addresses and folders.
///
/// Of a picture on a server it gets no more than `mostBytes`.
final class HeaderReader: Sendable {
    static let mostBytes: Int64 = 64 << 10

    private let rules: SourceRules
    private let engine: TransferEngine
    /// Headers are read on it, also from file systems that may not answer.
    private let queue = DispatchQueue(label: "darkroom.headers", attributes: .concurrent)

    init(_ rules: SourceRules) throws(FetchError) {
        self.rules = rules
        engine = try TransferEngine(settings: rules.transfers)
    }

    /// - Parameters:
    ///   - page: of a source with several pages.
    ///   - completion: called once, on any thread.
    func read(
        _ source: SourceReference, page: Int?,
        completion: @escaping @Sendable (SourceFinding) -> Void
    ) {
        if let obstacle = rules.obstacle(source) { return completion(.unknown(obstacle)) }
        let name = source.shown
        do throws(FetchError) {
            switch source {
            case .remote(let url):
                let output = TransferOutput(try Self.memoryFile(), name: name)
                let request = TransferRequest(url: url, output: output, firstBytes: Self.mostBytes)
                engine.start(request) { [self] result in
                    queue.async { [self] in completion(finding(result, name, page)) }
                }
            case .local(let local):
                queue.async { [self] in completion(finding(path: local.path, name, page)) }
            case .refused(_, let error): throw error
            }
        } catch {
            completion(.failure(Failure(error)))
        }
    }

    private static func memoryFile() throws(FetchError) -> Descriptor {
        do throws(Errno) {
            return Descriptor(owning: try retryingInterrupts { darkroom_memory_file() })
        } catch {
            throw FetchError(
                .writeFailed, "no file in memory: \(error)", storageFailure: error.storageFailure)
        }
    }

    // MARK: Servers

    private func finding(
        _ result: Result<TransferReport, FetchError>, _ name: String, _ page: Int?
    ) -> SourceFinding {
        switch result {
        case .success(let report):
            do throws(FetchError) {
                _ = try report.pictureKind()
            } catch {
                return .failure(Failure(error))
            }
            return header(in: report, name, page)
        case .failure(let error):
            if rules.hasHeaders, error.kind == .httpStatus, !error.isTransient {
                return .unknown("\(error.message); darkroomd has headers for some hosts")
            }
            return .failure(Failure(error))
        }
    }

    private func header(in report: TransferReport, _ name: String, _ page: Int?) -> SourceFinding {
        do throws(PictureError) {
            // The file is open as long as the report refers to it.
            defer { withExtendedLifetime(report) {} }
            let header = try PictureHeader(
                of: report.request.output.descriptor.file, name: name, limits: rules.pictures,
                page: page)
            return .header(header, bytes: report.total)
        } catch {
            guard error.mayBeOfAPart, report.bytes != report.total else {
                return .failure(Failure(error))
            }
            return .unknown("its header is longer than \(Units.bytes(Self.mostBytes))")
        }
    }

    // MARK: Files

    private func finding(path: String, _ name: String, _ page: Int?) -> SourceFinding {
        do {
            let source = try rules.local.open(path, sent: rules.sent)
            if let refusal = try refusal(of: source, name) { return .failure(Failure(refusal)) }
            let header = try PictureHeader(
                of: source.descriptor.file, name: name, limits: rules.pictures, page: page)
            return .header(header, bytes: source.bytes)
        } catch let error as FetchError
            where error.kind == .sourceUnreadable && rules.user != geteuid()
        {
            return .unknown("you may not read it: \(error.message)")
        } catch {
            return .failure(Failure(erasing: error))
        }
    }

    /// Why the daemon would not begin to read the file.
    private func refusal(
        of source: borrowing LocalSources.OpenedFile, _ name: String
    ) throws -> (any CodedError)? {
        if let user = rules.user, Self.isClosed(source.descriptor, to: user) {
            return FetchError(
                .sourceUnreadable,
                "\(name): darkroomd, which runs as user \(user), has no permission to read it")
        }
        return try InputFormat(of: source.descriptor.file, name: name).refusal(of: name)
    }

    /// Whether the permissions certainly exclude this user. Whether one of the user's groups may read the file is not
    /// known.
    private static func isClosed(_ file: borrowing Descriptor, to user: UInt32) -> Bool {
        guard user != 0, let status = stat(of: file.number) else { return false }
        let needed = status.st_uid == user ? S_IRUSR : S_IRGRP | S_IROTH
        return status.st_mode & needed == 0
    }
}

extension PictureError {
    /// Whether the file ends before the end of the picture. A library may call this damage.
    fileprivate var mayBeOfAPart: Bool {
        switch kind {
        case .pngTruncated, .jpegTruncated, .pictureTruncated, .pictureDamaged, .pageMissing: true
        default: false
        }
    }
}
