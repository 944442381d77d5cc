// HBase's Thrift gateway, started with settings as `key=value` and its own options behind them.

import java.util.Arrays;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.thrift.ThriftServer;
import org.apache.hadoop.util.ToolRunner;
import org.apache.log4j.BasicConfigurator;
import org.apache.log4j.Level;
import org.apache.log4j.Logger;

public final class Gateway {
  public static void main(String[] given) throws Exception {
    BasicConfigurator.configure();
    Logger.getRootLogger().setLevel(Level.WARN);
    Configuration settings = HBaseConfiguration.create();
    int at = 0;
    for (; given[at].contains("="); at++) {
      String[] words = given[at].split("=", 2);
      settings.set(words[0], words[1]);
    }
    String[] options = Arrays.copyOfRange(given, at, given.length);
    System.exit(ToolRunner.run(settings, new ThriftServer(settings), options));
  }
}
