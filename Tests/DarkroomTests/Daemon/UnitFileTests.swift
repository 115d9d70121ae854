import Foundation
import TestSupport
import Testing

@testable import DarkroomClient
@testable import DarkroomConfiguration
@testable import DarkroomCore
@testable import DarkroomDaemon

/// The units against what the daemon is. What they do is tried in a booted systemd (Tests/systemd/service.sh).
struct UnitFileTests {
    private static let units = ["darkroomd.service", "darkroomd@.service"]

    /// The settings of a unit file by their keys, each with its values in their order.
    private func settings(_ unit: String) throws -> [String: [String]] {
        let url = Repository.root.appending(path: "systemd/\(unit)")
        var settings: [String: [String]] = [:]
        for line in try String(contentsOf: url, encoding: .utf8).split(separator: "\n") {
            guard !line.hasPrefix("#"), let equals = line.firstIndex(of: "=") else { continue }
            let value = String(line[line.index(after: equals)...])
            settings[String(line[..<equals]), default: []].append(value)
        }
        return settings
    }

    private func number(_ key: String, _ unit: String) throws -> Int {
        let text = try #require(settings(unit)[key]?.first)
        return try #require(Int(text))
    }

    /// What does not get better by retrying is not retried; what may is.
    @Test(arguments: units)
    func startsAgainWhereThatCanHelp(unit: String) throws {
        let text = try #require(settings(unit)["RestartPreventExitStatus"]?.first)
        let prevented = Set(text.split(separator: " ").compactMap { Int32($0) })
        let own: [ExitCode] = [.usage, .noPermission, .configuration]
        #expect(prevented.isSuperset(of: own.map(\.rawValue)))
        let passing: [ExitCode] = [.software, .systemError, .ioError, .temporaryFailure]
        #expect(prevented.isDisjoint(with: passing.map(\.rawValue)))
        // 200 and above are systemd's own.
        #expect(prevented.subtracting(own.map(\.rawValue)).allSatisfy { $0 >= 200 })
        #expect(try settings(unit)["Restart"] == ["on-failure"])
    }

    @Test(arguments: units)
    func givesTimeToStop(unit: String) throws {
        var configuration = Configuration()
        let setting = try #require(Setting.named("stop.timeout"))
        try setting.apply(setting.defaultValue, &configuration)
        #expect(try Double(number("TimeoutStopSec", unit)) > configuration.stopTimeout)
    }

    /// After the clock is right, where something waits for that; nothing is asked to.
    @Test(arguments: units)
    func comesAfterTheTime(unit: String) throws {
        let settings = try settings(unit)
        #expect(settings["After"] == ["network-online.target time-sync.target"])
        #expect(settings["Wants"] == ["network-online.target"])
    }

    /// The most transfers that the configuration allows, each with a socket, a file, and two descriptors and a
    /// thread while its name is resolved.
    @Test(arguments: units)
    func allowsWhatTheConfigurationAllows(unit: String) throws {
        var configuration = Configuration()
        let setting = try #require(Setting.named("downloads.concurrency"))
        let most = 1024
        try setting.apply("\(most)", &configuration)
        #expect(throws: SettingError.self) { try setting.apply("\(most + 1)", &configuration) }
        #expect(try number("LimitNOFILE", unit) > most * 4 + 1024)
        #expect(try number("TasksMax", unit) >= most + 1024)
    }

    /// What the daemon knows its own root folder by, and what the manual says that the service sees.
    @Test(arguments: units)
    func seesWhatTheManualSays(unit: String) throws {
        let settings = try settings(unit)
        #expect(settings["RootDirectory"] == [ServiceView.rootDirectory])
        let shown = ServiceUnit.properties.map { key in
            let value =
                key == "TimeoutStopUSec" ? "90s" : settings[key]?.joined(separator: " ") ?? ""
            return "\(key)=\(key == "LoadState" ? "loaded" : value)"
        }
        let service = try #require(ServiceUnit(name: unit, shown: shown.joined(separator: "\n")))
        let view = try #require(service.view)
        for folder in ["/srv", "/mnt", "/media", "/opt", "/etc", "/usr"] {
            #expect(view.access(to: folder) == .reading)
        }
        let name = unit.contains("@") ? "darkroom-%i" : "darkroom"
        for folder in ["/var/spool/\(name)", "/var/cache/\(name)"] {
            #expect(view.access(to: folder) == .writing)
        }
        for folder in ["/", "/home/anna", "/root", "/tmp", "/var/lib", "/data", "/run/user/1000"] {
            #expect(view.access(to: folder) == .nothing)
        }
        #expect(view.hidesHomes && service.isHeard)
    }

    // MARK: Notification

    private static let notify = "darkroom-notify.service"

    @Test func aNotificationIsTriedAgainWhereThatCanHelp() throws {
        let text = try #require(settings(Self.notify)["RestartPreventExitStatus"]?.first)
        let prevented = Set(text.split(separator: " ").compactMap { Int32($0) })
        let final: [ClientExit] = [.usage, .missing, .noPermission, .configuration]
        #expect(prevented.filter { $0 < 200 } == Set(final.map(\.rawValue)))
        #expect(try settings(Self.notify)["Restart"] == ["on-failure"])
    }

    /// The running call, and the patience with a program that does not end.
    @Test func aNotificationHasTimeToStop() throws {
        let stopTime = NotificationPolicy().stopTime
        #expect(try Double(number("TimeoutStopSec", Self.notify)) > stopTime + 5)
        #expect(try settings(Self.notify)["KillMode"] == ["mixed"])
    }

    /// The page names what the unit has, and the file what the unit reads.
    @Test func aNotificationIsAsItsPageSays() throws {
        let settings = try settings(Self.notify)
        let page = try ManualPage("\(Self.notify).8").lines.joined(separator: "\n")
        #expect(settings["EnvironmentFile"] == ["/etc/darkroom/notify.conf"])
        #expect(
            settings["ExecStart"]
                == ["/usr/bin/darkroom watch --finished --spool /var/spool/darkroom $NOTIFY"])
        #expect(
            settings["LoadCredential"] == ["\(WebhookKey.credential):/etc/darkroom/webhook.key"])
        #expect(settings["SetCredential"] == ["\(WebhookKey.credential):unsigned"])
        let folder = try #require(settings["StateDirectory"]?.first)
        for path in [
            "/etc/darkroom/notify.conf", "/etc/darkroom/webhook.key",
            "/var/lib/\(folder)/finished.cursor", "/var/lib/private/\(folder)",
        ] {
            #expect(page.contains(path), "\(path)")
        }
        let memory = try #require(settings["MemoryMax"]?.first?.dropLast())
        #expect(page.contains("It may use \(memory) % of the memory"))
        for key in ["ProtectHome", "ExecPaths", "MemoryDenyWriteExecute"] {
            #expect(settings[key] != nil && page.contains("\(key)="), "\(key)")
        }
        // Whoever has not said what to call gets an error, and no default.
        let configuration = try String(
            contentsOf: Repository.root.appending(path: "etc/darkroom/notify.conf"),
            encoding: .utf8)
        #expect(
            configuration.split(separator: "\n").allSatisfy { $0.hasPrefix("#") })
    }

    /// One sandbox, and one set of limits, for the first spool and for further ones.
    @Test func theTemplateIsTheServiceButForItsNames() throws {
        let names: Set = [
            "Description", "ExecStart", "ExecStartPre", "ExecReload", "RequiresMountsFor",
            "AssertPathExists",
            "BindPaths", "CacheDirectory", "NoExecPaths",
        ]
        let service = try settings("darkroomd.service").filter { !names.contains($0.key) }
        let template = try settings("darkroomd@.service").filter { !names.contains($0.key) }
        #expect(service == template)
        #expect(service.count > 40)
    }
}
