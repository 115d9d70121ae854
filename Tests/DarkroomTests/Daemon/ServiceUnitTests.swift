import Testing

@testable import DarkroomConfiguration
@testable import DarkroomCore

struct ServiceUnitTests {
    /// As systemd 252 prints it, with drop-ins.
    private static let shown = """
        NotifyAccess=main
        TimeoutStopUSec=1min 30s
        RootDirectory=/run/darkroom/root
        ReadWritePaths=/srv/open /nowhere
        ReadOnlyPaths=/data/my spool/old
        InaccessiblePaths=-+/dev/shm -+/srv/closed
        ProtectHome=yes
        StateDirectory=
        CacheDirectory=darkroom more:link
        LogsDirectory=
        BindPaths=/var/spool/darkroom:/var/spool/darkroom:rbind /data/my spool:/data/my spool:rbind
        BindReadOnlyPaths=/etc:/etc:rbind -/srv:/srv:rbind -/home/anna:/pictures
        LoadState=loaded
        """

    @Test(
        arguments: [
            ("/var/spool/darkroom/inbox", .writing), ("/data/my spool/new", .writing),
            ("/data/my spool/old/x", .reading), ("/data/my", .nothing), ("/etc/x", .reading),
            ("/srv/p", .reading), ("/srv/open", .writing), ("/srv/closed/x", .nothing),
            ("/nowhere", .nothing), ("/pictures", .reading), ("/home/anna", .nothing),
            ("/var/cache/darkroom", .writing), ("/var/cache/more", .writing),
            ("/var/lib/x", .nothing),
            ("/tmp", .nothing),
        ] as [(String, ServiceView.Access)])
    func seesWhatItsUnitBinds(path: String, access: ServiceView.Access) throws {
        let unit = try #require(ServiceUnit(name: "darkroomd@prints.service", shown: Self.shown))
        #expect(try #require(unit.view).access(to: path) == access)
        #expect(unit.view?.unit == "darkroomd@prints")
        #expect(unit.view?.hidesHomes == true)
        #expect(unit.stopTimeout == 90 && unit.isHeard)
    }

    @Test func isNothingWhereThereIsNone() {
        let none = Self.shown.replacing("=loaded", with: "=not-found")
        #expect(ServiceUnit(name: "darkroomd.service", shown: none) == nil)
        #expect(ServiceUnit(name: "darkroomd.service", shown: "") == nil)
        let open = Self.shown.replacing("RootDirectory=/run/darkroom/root", with: "RootDirectory=")
        #expect(ServiceUnit(name: "darkroomd.service", shown: open)?.view == nil)
    }

    @Test(
        arguments: [
            ("6s", 6), ("1min 30s", 90), ("1d 2h", 93600), ("500ms", 0.5), ("1w", 604800),
            ("infinity", nil), ("", nil), ("5 parsecs", nil),
        ] as [(String, Double?)])
    func readsTimes(text: String, seconds: Double?) {
        #expect(ServiceUnit.seconds(text) == seconds)
    }

    @Test(
        arguments: [
            (nil, "darkroomd.service"), ("/etc/darkroom/darkroomd.yaml", "darkroomd.service"),
            ("/etc/darkroom/prints.yaml", "darkroomd@prints.service"),
            ("/etc/darkroom/a b.yaml", nil), ("/etc/darkroom/x/y.yaml", nil),
            ("darkroomd.yaml", nil),
        ] as [(String?, String?)])
    func belongsToAConfiguration(path: String?, unit: String?) {
        #expect(ServiceUnit.name(forConfiguration: path) == unit)
    }
}
