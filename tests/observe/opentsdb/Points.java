import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import com.stumbleupon.async.Deferred;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import net.opentsdb.core.TSDB;
import net.opentsdb.utils.Config;
import org.slf4j.LoggerFactory;

/**
 * Writes one point an hour for each metric of each host, as a program does that sends them.
 *
 * <p>Its arguments: ZooKeeper's address, what the names of the tables begin with, and how many
 * metrics, hosts and hours.
 */
public final class Points {
  private static final long HOUR_S = 3_600;
  private static final long FIRST_S = 1_700_000_000L / HOUR_S * HOUR_S;
  private static final long PATIENCE_MS = 60_000;

  private Points() {}

  public static void main(String[] args) throws Exception {
    ((Logger) LoggerFactory.getLogger(Logger.ROOT_LOGGER_NAME)).setLevel(Level.WARN);
    TSDB tsdb = new TSDB(words(args[0], args[1]));
    tsdb.checkNecessaryTablesExist().join(PATIENCE_MS);
    int metrics = Integer.parseInt(args[2]);
    int hosts = Integer.parseInt(args[3]);
    int hours = Integer.parseInt(args[4]);
    List<Deferred<Object>> sent = new ArrayList<>(); // it sends them on once a second
    for (int hour = 0; hour < hours; hour++) {
      for (int metric = 0; metric < metrics; metric++) {
        for (int host = 0; host < hosts; host++) {
          long at = FIRST_S + hour * HOUR_S + 60L * host;
          Map<String, String> tags = Map.of("host", "web-" + host);
          sent.add(tsdb.addPoint("sys.load." + metric, at, hour, tags));
        }
      }
    }
    Deferred.group(sent).join(PATIENCE_MS);
    tsdb.shutdown().join(PATIENCE_MS);
    System.exit(0); // its timers would go on
  }

  private static Config words(String zookeeper, String prefix) throws Exception {
    Config words = new Config(false);
    words.overrideConfig("tsd.storage.hbase.zk_quorum", zookeeper);
    for (String table : new String[] {"data", "uid", "tree", "meta"}) {
      String name = table.equals("data") ? "tsdb" : "tsdb-" + table;
      words.overrideConfig("tsd.storage.hbase." + table + "_table", prefix + name);
    }
    words.overrideConfig("tsd.core.auto_create_metrics", "true");
    words.overrideConfig("tsd.core.meta.enable_tsuid_tracking", "true");
    return words;
  }
}
