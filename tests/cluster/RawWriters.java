// Writers that know nothing of rowkey: threads that put, delete and increment rows through HBase's
// official client until the standard input ends. Each row has a register and a counter, and is
// written by one thread. What HBase acknowledged is printed, one line each: `put ROW VALUE`,
// `delete ROW`, `clear ROW` (the register), `increment ROW AMOUNT`; `failed ROW` if it threw, after
// which the row is not written any more.
//
// Arguments: table, family, qualifiers of register and counter in hex, threads, rows of each, then
// `key=value` settings. A row key is the number of the row in 8 bytes.

import java.io.IOException;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.Random;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.util.Bytes;

public final class RawWriters {
  private static final int GIVEN = 6;
  private static final long PAUSE_MS = 2; // a put in the millisecond of a delete is hidden by it

  private static volatile boolean isOver;

  private RawWriters() {}

  public static void main(String[] args) throws Exception {
    Configuration settings = HBaseConfiguration.create();
    for (int i = GIVEN; i < args.length; i++) {
      String[] pair = args[i].split("=", 2);
      settings.set(pair[0], pair[1]);
    }
    int count = Integer.parseInt(args[4]);
    try (Connection connection = ConnectionFactory.createConnection(settings)) {
      Thread[] threads = new Thread[count];
      for (int i = 0; i < count; i++) {
        int number = i;
        threads[i] = new Thread(() -> write(connection, args, number));
        threads[i].start();
      }
      while (System.in.read() >= 0) {}
      isOver = true;
      for (Thread thread : threads) thread.join();
    }
  }

  private static void write(Connection connection, String[] args, int number) {
    byte[] family = Bytes.toBytes(args[1]);
    byte[] register = HexFormat.of().parseHex(args[2]);
    byte[] counter = HexFormat.of().parseHex(args[3]);
    int rows = Integer.parseInt(args[5]);
    Random random = new Random(number);
    Set<Long> failed = new HashSet<>();
    try (Table table = connection.getTable(TableName.valueOf(args[0]))) {
      for (long step = 1; !isOver; step++) {
        long row = (long) number * rows + random.nextInt(rows);
        if (failed.contains(row)) continue;
        String line;
        try {
          line = change(table, Bytes.toBytes(row), row, step, family, register, counter, random);
        } catch (IOException e) {
          failed.add(row);
          line = "failed " + row;
        }
        System.out.println(line);
        Thread.sleep(PAUSE_MS);
      }
    } catch (IOException | InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private static String change(
      Table table,
      byte[] key,
      long row,
      long step,
      byte[] family,
      byte[] register,
      byte[] counter,
      Random random)
      throws IOException {
    int choice = random.nextInt(10);
    if (choice < 4) {
      table.put(new Put(key).addColumn(family, register, Bytes.toBytes(step)));
      return "put " + row + " " + step;
    }
    if (choice < 8) {
      long amount = 1 + random.nextInt(9);
      table.increment(new Increment(key).addColumn(family, counter, amount));
      return "increment " + row + " " + amount;
    }
    if (choice == 8) {
      table.delete(new Delete(key).addColumns(family, register));
      return "clear " + row;
    }
    table.delete(new Delete(key));
    return "delete " + row;
  }
}
