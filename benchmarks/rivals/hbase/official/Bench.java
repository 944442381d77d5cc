// What HBase's own client reaches: one task a line on stdin, one answer a line on stdout. Started
// with ZooKeeper's port, the table to read, the table to write.
//
// load N        N rows through a BufferedMutator
// scan N AHEAD  all N rows by one scanner, 10,000 a call; AHEAD is whether it fetches the next
//               ones while these are read: true or false
// salted N      all N rows in the order of what follows the bucket: 16 scanners, merged
// get N THREADS N gets in all, each of one row by chance
// put N THREADS N puts in all, each of one row
// copy N THREADS all N rows to the other table, each thread some regions, as CopyTable does
//
// Row n of N is two digits of n mod 16, then n in 15 digits; its one cell d:v has 100 bytes.
// The answer is `= OPERATIONS SECONDS CPU-SECONDS`, the latter of this process; or `! WHAT`.

import com.sun.management.OperatingSystemMXBean;
import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.PriorityQueue;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.BufferedMutator;
import org.apache.hadoop.hbase.client.BufferedMutatorParams;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.RegionLocator;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;

public final class Bench {
  private static final int BUCKETS = 16;
  private static final int CACHING = 10_000;
  private static final long BUFFER = 8 << 20;
  private static final byte[] FAMILY = {'d'};
  private static final byte[] QUALIFIER = {'v'};
  private static final byte[] VALUE = new byte[100];
  private static final OperatingSystemMXBean SELF =
      (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

  private static Connection connection;
  private static TableName source;
  private static TableName sink;

  private static byte[] key(long n) {
    byte[] key = new byte[17];
    long bucket = n % BUCKETS;
    key[0] = (byte) ('0' + bucket / 10);
    key[1] = (byte) ('0' + bucket % 10);
    for (int i = 16; i > 1; i--, n /= 10) key[i] = (byte) ('0' + n % 10);
    return key;
  }

  private static byte[] bucket(int number) {
    return number == BUCKETS ? new byte[0] : Arrays.copyOf(key(number), 2);
  }

  private static Put put(long n) {
    return new Put(key(n)).addColumn(FAMILY, QUALIFIER, VALUE);
  }

  private static void load(long rows) throws IOException {
    BufferedMutatorParams given = new BufferedMutatorParams(sink).writeBufferSize(BUFFER);
    try (BufferedMutator to = connection.getBufferedMutator(given)) {
      for (long n = 0; n < rows; n++) to.mutate(put(n));
    }
  }

  private static void scan(long rows, boolean ahead) throws IOException {
    long seen = 0;
    Scan asked = new Scan().setCaching(CACHING).setAsyncPrefetch(ahead);
    try (Table table = connection.getTable(source);
        ResultScanner found = table.getScanner(asked)) {
      for (Result row : found) {
        check(row.value().length == VALUE.length, "a value is cut");
        seen++;
      }
    }
    check(seen == rows, "scanned " + seen);
  }

  /** A scanner with its next row. */
  private static final class Run implements Comparable<Run> {
    private final ResultScanner rows;
    private Cell next;

    Run(Table table, int number) throws IOException {
      Scan asked = new Scan().withStartRow(bucket(number)).withStopRow(bucket(number + 1));
      rows = table.getScanner(asked.setCaching(CACHING).setAsyncPrefetch(true));
    }

    boolean step() throws IOException {
      Result found = rows.next();
      next = found == null ? null : found.rawCells()[0];
      return found != null;
    }

    byte[] bytes() {
      return next.getRowArray();
    }

    int from() {
      return next.getRowOffset() + 2;
    }

    int to() {
      return next.getRowOffset() + next.getRowLength();
    }

    @Override
    public int compareTo(Run other) {
      return Arrays.compareUnsigned(
          bytes(), from(), to(), other.bytes(), other.from(), other.to());
    }
  }

  private static void salted(long rows) throws IOException {
    long seen = 0;
    PriorityQueue<Run> runs = new PriorityQueue<>();
    try (Table table = connection.getTable(source)) {
      List<Run> opened = new ArrayList<>();
      for (int i = 0; i < BUCKETS; i++) opened.add(new Run(table, i));
      for (Run run : opened) if (run.step()) runs.add(run);
      while (!runs.isEmpty()) {
        Run first = runs.poll();
        check(ends(first, seen), "out of order at " + seen);
        seen++;
        if (first.step()) runs.add(first);
        else first.rows.close();
      }
    }
    check(seen == rows, "scanned " + seen);
  }

  /** Whether the row is number n, by its last digits. */
  private static boolean ends(Run run, long n) {
    int last = run.bytes()[run.to() - 1] - '0';
    return last == n % 10;
  }

  private static void copy(long rows, int threads) throws Exception {
    byte[][] starts;
    try (RegionLocator regions = connection.getRegionLocator(source)) {
      starts = regions.getStartKeys();
    }
    ExecutorService crew = Executors.newFixedThreadPool(threads);
    List<Future<Long>> waiting = new ArrayList<>();
    for (int i = 0; i < starts.length; i++) {
      byte[] stop = i + 1 < starts.length ? starts[i + 1] : new byte[0];
      Scan asked = new Scan().withStartRow(starts[i]).withStopRow(stop).setCaching(CACHING);
      waiting.add(crew.submit(() -> copy(asked)));
    }
    long seen = 0;
    for (Future<Long> one : waiting) seen += one.get();
    crew.shutdown();
    check(seen == rows, "copied " + seen);
  }

  private static long copy(Scan asked) throws IOException {
    BufferedMutatorParams given = new BufferedMutatorParams(sink).writeBufferSize(BUFFER);
    long seen = 0;
    try (Table table = connection.getTable(source);
        ResultScanner found = table.getScanner(asked);
        BufferedMutator to = connection.getBufferedMutator(given)) {
      for (Result row : found) {
        Put put = new Put(row.getRow());
        for (Cell cell : row.rawCells()) put.add(cell);
        to.mutate(put);
        seen++;
      }
    }
    return seen;
  }

  private interface Work {
    void one(Table table, long n) throws IOException;
  }

  private static void spread(long count, int threads, TableName name, Work work) throws Exception {
    ExecutorService crew = Executors.newFixedThreadPool(threads);
    List<Future<Void>> waiting = new ArrayList<>();
    for (int i = 0; i < threads; i++) {
      long from = count * i / threads;
      long to = count * (i + 1) / threads;
      waiting.add(
          crew.submit(
              () -> {
                try (Table table = connection.getTable(name)) {
                  for (long n = from; n < to; n++) work.one(table, n);
                }
                return null;
              }));
    }
    for (Future<Void> one : waiting) one.get();
    crew.shutdown();
  }

  private static void get(long count, int threads, long rows) throws Exception {
    SplittableRandom chance = new SplittableRandom(count);
    long[] drawn = chance.longs(count, 0, rows).toArray();
    spread(
        count,
        threads,
        source,
        (table, n) -> check(!table.get(new Get(key(drawn[(int) n]))).isEmpty(), "not found"));
  }

  private static void check(boolean holds, String what) throws IOException {
    if (!holds) throw new IOException(what);
  }

  private static long answer(String[] words) throws Exception {
    long count = Long.parseLong(words[1]);
    switch (words[0]) {
      case "load" -> load(count);
      case "scan" -> scan(count, Boolean.parseBoolean(words[2]));
      case "salted" -> salted(count);
      case "get" -> get(count, Integer.parseInt(words[2]), Long.parseLong(words[3]));
      case "put" -> spread(count, Integer.parseInt(words[2]), sink, (t, n) -> t.put(put(n)));
      case "copy" -> copy(count, Integer.parseInt(words[2]));
      default -> throw new IOException("no such task: " + words[0]);
    }
    return count;
  }

  public static void main(String[] given) throws IOException {
    PrintStream out = new PrintStream(new FileOutputStream(FileDescriptor.out), true);
    System.setOut(System.err);
    Configuration settings = HBaseConfiguration.create();
    settings.set("hbase.zookeeper.quorum", "127.0.0.1");
    settings.set("hbase.zookeeper.property.clientPort", given[0]);
    source = TableName.valueOf(given[1]);
    sink = TableName.valueOf(given[2]);
    connection = ConnectionFactory.createConnection(settings);
    BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line; (line = in.readLine()) != null; ) {
      try {
        long cpu = SELF.getProcessCpuTime();
        long started = System.nanoTime();
        long done = answer(line.split(" "));
        double seconds = (System.nanoTime() - started) / 1e9;
        out.println("= " + done + " " + seconds + " " + (SELF.getProcessCpuTime() - cpu) / 1e9);
      } catch (Exception e) {
        out.println("! " + String.valueOf(e).replace('\n', ' '));
      }
    }
    // The client's own threads would keep the program alive.
    Runtime.getRuntime().halt(0);
  }
}
