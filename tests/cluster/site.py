"""The configuration of the servers: one HBase on one machine, with short waits for tests.

Source: the HBase book's configuration chapter; what differs from its defaults says why.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

HOST = "127.0.0.1"
SCANNER_LEASE_MS = 5_000
ZK_TICK_MS = 1_000  # a session lasts two ticks at least

OPENED_PACKAGES = (
    "java.io", "java.nio", "sun.nio.ch", "java.lang", "jdk.internal.ref", "java.lang.reflect",
    "java.util", "java.util.concurrent", "jdk.internal.util.random",
)  # fmt: skip
EXPORTED_PACKAGES = (
    "java.base/jdk.internal.misc", "java.base/sun.net.dns", "java.base/sun.net.util",
    "java.security.jgss/sun.security.krb5",
)  # fmt: skip
"""Packages of Java 17 that HBase opens. Source: bin/hbase of HBase 2.6."""

LOGGING = """\
status = error
appender.file.type = Console
appender.file.name = file
appender.file.target = SYSTEM_OUT
appender.file.layout.type = PatternLayout
appender.file.layout.pattern = %d{ISO8601} %-5p [%t] %c{2}: %m%n
rootLogger.level = info
rootLogger.appenderRef.file.ref = file
logger.zookeeper.name = org.apache.zookeeper
logger.zookeeper.level = warn
"""


@dataclass(frozen=True, slots=True)
class Ports:
    """The ports of one cluster.

    Args:
        zookeeper: where clients ask for everything else.
        master: the master's.
        servers: one for each region server.
    """

    zookeeper: int
    master: int
    servers: tuple[int, ...]


def build_site(directory: Path, ports: Ports, session_ms: int) -> dict[str, str]:
    """Return the settings of all servers of one cluster.

    Args:
        directory: where everything of the cluster lies.
        ports: its ports.
        session_ms: after how long a silent server is given up.
    """
    return {
        "hbase.cluster.distributed": "true",
        "hbase.rootdir": f"file://{directory}/data",
        # It supports hflush and hsync: a server that is killed, or paused until it is given up,
        # loses nothing it acknowledged.
        "fs.file.impl": "Fenced",
        "hbase.unsafe.stream.capability.enforce": "true",
        "hbase.wal.provider": "filesystem",
        "hbase.tmp.dir": f"{directory}/tmp",
        "hbase.io.compress.zstd.codec": "org.apache.hadoop.hbase.io.compress.zstd.ZstdCodec",
        **_network(directory, ports),
        "zookeeper.session.timeout": str(session_ms),
        # The master writes to hbase:meta where it was; it asks again once that server is given up.
        "hbase.rpc.timeout": str(session_ms),
        "hbase.zookeeper.property.tickTime": str(ZK_TICK_MS),
        # ZooKeeper would shorten sessions of more than 20 ticks.
        "hbase.zookeeper.property.maxSessionTimeout": str(max(session_ms, 20 * ZK_TICK_MS)),
        "hbase.client.scanner.timeout.period": str(SCANNER_LEASE_MS),
        # A server tells a master that has died some 10,000 times a second that a region is closed,
        # and waits for the new one by the number of those tries: 200 times this pause.
        "hbase.rpc.shortoperation.retry.pause.time": "20",
        # The status of the cluster is half a second old at most.
        "hbase.regionserver.msginterval": "500",
        # Files that a compaction replaced are gone at once, not two minutes later.
        "hbase.hfile.compaction.discharger.interval": "200",
        # Nothing compacts, splits or moves by itself: only what a test asks for happens.
        "hbase.hstore.compaction.min": "1000",
        "hbase.hstore.blockingStoreFiles": "2000",
        "hbase.hregion.majorcompaction": "0",
        "hbase.regionserver.region.split.policy": (
            "org.apache.hadoop.hbase.regionserver.ConstantSizeRegionSplitPolicy"
        ),
        "hbase.hregion.max.filesize": str(1 << 40),
        "hbase.balancer.period": "86400000",
        # A store that was written to takes 2 MB at once otherwise, and there are thousands of them.
        "hbase.hregion.memstore.mslab.enabled": "false",
        # Two cores are shared with pytest.
        "hbase.regionserver.handler.count": "8",
        "hbase.regionserver.metahandler.count": "4",
        "hbase.master.wait.on.regionservers.maxtostart": str(len(ports.servers)),
        "hbase.master.wait.on.regionservers.interval": "200",
    }


def _network(directory: Path, ports: Ports) -> dict[str, str]:
    """Return the addresses of all servers, on this machine only."""
    return {
        "hbase.zookeeper.quorum": HOST,
        "hbase.zookeeper.property.clientPort": str(ports.zookeeper),
        "hbase.zookeeper.property.clientPortAddress": HOST,
        "hbase.zookeeper.property.dataDir": f"{directory}/zookeeper",
        "hbase.master.port": str(ports.master),
        "hbase.master.info.port": "-1",
        "hbase.regionserver.info.port": "-1",
        "hbase.master.hostname": "localhost",
        "hbase.regionserver.hostname": "localhost",
        "hbase.unsafe.regionserver.hostname": "localhost",
        "hbase.master.ipc.address": HOST,
        "hbase.regionserver.ipc.address": HOST,
    }


def build_client_settings(ports: Ports) -> dict[str, str]:
    """Return the settings of a client, which waits a limited time for a killed server's regions."""
    return {
        "hbase.zookeeper.quorum": HOST,
        "hbase.zookeeper.property.clientPort": str(ports.zookeeper),
        "zookeeper.session.timeout": "10000",
        # How long a scan may wait; how long a scanner may rest is the servers' own setting.
        "hbase.client.scanner.timeout.period": "90000",
        "hbase.client.pause": "50",
        "hbase.client.retries.number": "50",
        "hbase.rpc.timeout": "10000",
        "hbase.client.operation.timeout": "90000",
        "hbase.client.meta.operation.timeout": "90000",
    }


def write_site(directory: Path, settings: Mapping[str, str]) -> None:
    """Write the settings where the servers look for them: `conf` in the cluster's directory."""
    properties = "".join(
        f"<property><name>{escape(name)}</name><value>{escape(value)}</value></property>\n"
        for name, value in settings.items()
    )
    conf = directory / "conf"
    conf.mkdir(parents=True)
    (conf / "hbase-site.xml").write_text(f"<configuration>\n{properties}</configuration>\n")
    (conf / "log4j2.properties").write_text(LOGGING)


def build_jvm_flags(heap_mb: int, directory: Path) -> list[str]:
    """Return the flags of one server's JVM; one collector thread, since five share two cores."""
    return [
        "-XX:+UseSerialGC",
        f"-Xmx{heap_mb}m",
        "-XX:TieredStopAtLevel=1",  # a run is too short for the second compiler to pay
        "-Xshare:auto",
        "--add-modules=jdk.unsupported",
        *(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in OPENED_PACKAGES),
        *(f"--add-exports={package}=ALL-UNNAMED" for package in EXPORTED_PACKAGES),
        "-Dorg.apache.hbase.thirdparty.io.netty.tryReflectionSetAccessible=true",
        "-Djava.net.preferIPv4Stack=true",
        f"-Dlog4j2.configurationFile={directory}/conf/log4j2.properties",
        # Else its admin page takes port 8080, and the second cluster of a machine dies of it.
        "-Dzookeeper.admin.enableServer=false",
    ]


def build_program(name: str, ports: Ports) -> tuple[int, Sequence[str]]:
    """Return what a process runs: its heap in MB, its class and arguments.

    Args:
        name: `zookeeper`, `master` or `server1`, `server2`, ….
        ports: the cluster's.
    """
    if name == "zookeeper":
        return 256, ("org.apache.hadoop.hbase.zookeeper.HQuorumPeer",)
    if name == "master":
        return 512, ("org.apache.hadoop.hbase.master.HMaster", "start")
    port = ports.servers[int(name.removeprefix("server")) - 1]
    server = "org.apache.hadoop.hbase.regionserver.HRegionServer"
    return 768, (server, f"-Dhbase.regionserver.port={port}", "start")
