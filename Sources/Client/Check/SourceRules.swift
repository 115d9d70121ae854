import DarkroomAnswer
import DarkroomCore
import DarkroomFetch
import DarkroomPicture

/// What a daemon would do with sources and pictures: its settings as its last report has them, or the usual ones.
package struct SourceRules: Sendable {
    let transfers: TransferSettings
    let local: LocalSources
    /// The pictures that come with the manifest; nil if none do.
    package var sent: SentPictures?
    let pictures: PictureLimits
    /// The memory that one picture may have, in bytes; nil if no daemon has reported.
    package let memory: Int?
    let cores: Cores
    /// The user of the daemon; nil if no daemon has reported.
    let user: UInt32?
    let hasHeaders: Bool

    package init(_ report: QueueReport?) {
        let agent = TransferSettings.userAgent(version: Release.version)
        guard let report else {
            transfers = TransferSettings(userAgent: agent)
            local = LocalSources(roots: ["/"], view: nil)
            pictures = PictureLimits()
            (memory, user, cores, hasHeaders) = (nil, nil, .shared, false)
            return
        }
        let limits = report.limits
        transfers = TransferSettings(limits, agent: agent)
        local = LocalSources(limits)
        var pictures = PictureLimits()
        pictures.pixels = limits.pictures.pixels
        pictures.confine = limits.pictures.confine ?? pictures.confine
        self.pictures = pictures
        memory = limits.pictures.memory
        user = report.daemon.uid
        cores = Cores(count: min(max(limits.pictures.cores, 1), 4096))
        hasHeaders = limits.downloads.hasHeaders
    }

    /// Why it is not known what the daemon would say about a proxy or a path; nil if it is.
    func obstacle(_ source: SourceReference) -> String? {
        switch source {
        case .remote:
            // The user and the password of the proxy are in a form that cannot be told apart from its host.
            transfers.proxy?.contains(RedactedURL.mark) == true
                ? "darkroomd uses a proxy (downloads.proxy) that its report does not name" : nil
        case .local(let local):
            user == nil && sent == nil && local.path.utf8.first != UInt8(ascii: "/")
                ? "a relative path begins at sources.roots, and no darkroomd has reported them"
                : nil
        case .refused: nil
        }
    }
}

extension TransferSettings {
    fileprivate init(_ limits: QueueReport.Limits, agent: String) {
        let downloads = limits.downloads
        let rules = FetchRules(
            addresses: AddressRules(
                allowNetworks: downloads.allowNetworks.compactMap { try? IPNetwork($0) }),
            hosts: HostRules(
                allow: downloads.allowHosts.compactMap { try? HostPattern($0) },
                deny: downloads.denyHosts.compactMap { try? HostPattern($0) }))
        self.init(
            limits: TransferLimits(
                bytes: Int64(limits.sourceBytes), redirects: downloads.redirects,
                connect: Self.duration(downloads.connectTimeout),
                total: Self.duration(downloads.timeout), stall: Self.duration(downloads.stallTime),
                stallBytesPerSecond: downloads.stallRate,
                maxHeaderBytes: downloads.maxHeaderBytes),
            connections: HeaderQueue.width, caFile: downloads.caFile, proxy: downloads.proxy,
            rules: rules, userAgent: agent)
    }

    /// The numbers of a file may have any values.
    private static func duration(_ seconds: Double) -> Duration {
        .seconds(min(max(seconds, 0), 86_400))
    }
}

extension LocalSources {
    fileprivate init(_ limits: QueueReport.Limits) {
        let view = limits.service.map { service in
            ServiceView(
                unit: service.unit, hidesHomes: service.hidesHomes,
                folders: limits.readableRoots.map { ($0, .reading) })
        }
        self.init(
            roots: limits.sourceRoots, maximumBytes: Int64(limits.sourceBytes), view: view,
            hidden: Set(limits.sourceRoots.map { ByteString($0) })
                .subtracting(limits.readableRoots.map { ByteString($0) }))
        ignored = limits.ignoredNames
    }
}
