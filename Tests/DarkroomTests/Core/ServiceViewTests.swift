import Foundation
import Testing

@testable import DarkroomConfiguration
@testable import DarkroomCore
@testable import DarkroomFetch
@testable import DarkroomSpool

/// What a service sees, by its mount table and by its unit.
struct ServiceViewTests {
    /// As the unit's daemon has it under systemd 252, with `BindPaths=/data/spool "/data/my spool"`.
    private static let mountTable = """
        123 69 0:44 /darkroom/root / ro,nosuid,noexec,relatime shared:27 master:2 - tmpfs tmpfs rw,mode=755
        125 123 0:41 /data/spool /data/spool rw,nosuid,relatime shared:29 master:1 - overlay overlay rw
        165 123 0:41 /data/my\\040spool /data/my\\040spool rw,nosuid,relatime shared:29 - overlay overlay rw
        126 123 0:60 / /dev ro,nosuid,noexec shared:30 - tmpfs tmpfs rw,size=4096k
        128 126 0:44 /systemd/inaccessible/dir /dev/shm ro,nosuid shared:33 master:2 - tmpfs tmpfs rw,mode=755
        130 123 0:41 /etc /etc ro,nosuid,relatime shared:34 master:1 - overlay overlay rw
        141 123 0:61 / /proc rw,nosuid,nodev,noexec,relatime shared:45 - proc proc rw,subset=pid
        142 123 0:44 /systemd/inaccessible/dir /root ro,nosuid,noexec shared:46 master:2 - tmpfs tmpfs rw
        143 123 0:44 /darkroom/root/run /run rw,nosuid,noexec,relatime shared:47 master:2 - tmpfs tmpfs rw
        148 123 0:41 /srv /srv ro,nosuid,relatime shared:52 master:1 - overlay overlay rw
        154 123 0:46 /systemd-private-facb-darkroomd.service-uyKDKV/tmp /tmp rw,nosuid - tmpfs tmpfs rw
        """

    private static func view(_ service: String = "darkroomd.service") -> ServiceView? {
        ServiceView(
            mountTable: mountTable,
            membership: "9:name=systemd:/\n0::/system.slice/\(service)\n")
    }

    @Test(
        arguments: [
            ("/data/spool", .writing), ("/data/spool/inbox", .writing),
            ("/data/my spool/x", .writing),
            ("/data", .nothing), ("/data/spools", .nothing), ("/srv", .reading),
            ("/srv/a/../b", .reading),
            ("/srv/../home", .nothing), ("/etc/darkroom", .reading), ("/home/anna/p", .nothing),
            ("/root/p", .nothing), ("/tmp/p", .nothing), ("/run/user", .nothing),
            ("/dev/shm", .nothing),
            ("/proc/x", .writing), ("/", .nothing),
        ] as [(String, ServiceView.Access)])
    func seesWhatIsBound(path: String, access: ServiceView.Access) throws {
        #expect(try #require(Self.view()).access(to: path) == access)
    }

    @Test(
        arguments: [
            (
                "/home/anna/p", .reading,
                "does not see /home/anna/p: add ProtectHome=read-only and "
                    + "BindReadOnlyPaths=/home/anna/p to a drop-in (systemctl edit darkroomd) and restart it"
            ),
            ("/data/p", .reading, "does not see /data/p: add BindReadOnlyPaths=/data/p to"),
            ("/data/other", .writing, "does not see /data/other: add BindPaths=/data/other to"),
            ("/srv/spool", .writing, "may not write to /srv/spool: add BindPaths=/srv/spool to"),
            ("/a b:c%d", .reading, "add BindReadOnlyPaths=\"/a b\\:c%%d\" to"),
            ("/srv/p", .reading, nil), ("/data/spool", .writing, nil),
        ] as [(String, ServiceView.Access, String?)])
    func namesTheLineThatIsMissing(
        path: String, wanted: ServiceView.Access, words: String?
    ) throws {
        let remedy = try #require(Self.view()).remedy(for: path, wanting: wanted)
        #expect(words.map { remedy?.contains($0) == true } ?? (remedy == nil), "\(remedy ?? "")")
    }

    @Test(arguments: [
        ("darkroomd.service", "darkroomd"),
        ("system-darkroomd.slice/darkroomd@prints.service", "darkroomd@prints"),
        ("other.slice", "darkroomd"),
    ])
    func namesItsUnit(service: String, unit: String) {
        #expect(Self.view(service)?.unit == unit)
    }

    /// The machine itself, a container of folders, subvolumes: these are no sandboxes of ours.
    @Test(arguments: ["/", "/root", "/@", "/var/lib/lxc/x/rootfs", "/other/root"])
    func takesNoOtherRootForItsOwn(source: String) {
        let table = Self.mountTable.replacing(" /darkroom/root / ", with: " \(source) / ")
        #expect(ServiceView(mountTable: table, membership: "") == nil)
        #expect(ServiceView.current == nil)
    }

    @Test func theDaemonSaysSoWhereItMeetsIt() throws {
        let view = try #require(Self.view())
        let error = #expect(throws: FetchError.self) {
            _ = try LocalSources(roots: ["/nowhere/p", "/srv"], view: view).open("no-such.png")
        }
        #expect(
            error?.message
                == "no-such.png: the service has its own root folder and does not see "
                + "/nowhere/p: add BindReadOnlyPaths=/nowhere/p to a drop-in (systemctl edit darkroomd) and "
                + "restart it")
        #expect(error?.code == "source-missing" && error?.isTransient == false)
        // What can be seen is told of as it is.
        let seen = #expect(throws: FetchError.self) {
            _ = try LocalSources(roots: ["/srv/none"], view: view).open("no-such.png")
        }
        #expect(seen?.message == "no-such.png: no such file in sources.roots (/srv/none)")

        let readOnly = SpoolError.file(FileError(.createFolder, "/data", .readOnlyFileSystem))
        let told = readOnly.explained("/data/new", by: view)
        #expect(told.code == "read-only" && !told.isTransient)
        #expect(
            told.message.hasPrefix(
                "/data: cannot create folder: Read-only file system; the service"))
        #expect(told.message.contains("BindPaths=/data/new"))
        #expect(readOnly.explained("/data/spool", by: view) == readOnly)
        #expect(readOnly.explained("/data/new", by: nil) == readOnly)

        var configuration = Configuration()
        configuration.sourceRoots = ["/nowhere/p", "/srv/none"]
        let warnings = configuration.warnings(view: view).map(\.message)
        #expect(warnings.count == 2)
        #expect(warnings[0].contains("BindReadOnlyPaths=/nowhere/p"))
        #expect(warnings[1].hasSuffix("; no source beneath it can be read"))

        var loader = ConfigurationLoader(
            path: "/nowhere/darkroomd.yaml",
            overrides: [
                ("downloads.caFile", "/nowhere/ca.pem"), ("downloads.headers", "/nowhere/h"),
            ],
            environment: [:])
        loader.view = view
        let problems =
            #expect(throws: ConfigurationError.self) { try loader.load() }?.problems ?? []
        #expect(problems.count == 3)
        for problem in problems { #expect(problem.contains("add BindReadOnlyPaths=/nowhere to")) }
    }
}
