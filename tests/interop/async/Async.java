// A writer and reader of HBase that shares no code with its official client: asynchbase, asked one
// question a line on stdin, answered one line each on stdout. Started with ZooKeeper's host:port.
//
// The spelling is that of tests/cluster/Judge.java: words with tabs between, bytes and text as
// lower-case hex, `empty` for none; `= WORDS`, `! CLASS: FIRST LINE`, `? REASON`.
//
// put   TABLE n {ROW k {FAMILY QUALIFIER TIMESTAMP VALUE}}   -> nothing
// get   TABLE n {ROW}                                        -> n {ROW k {cell}}
// scan  TABLE START STOP ROWS CELLS    -> {ROW k {cell}}, rows from START to STOP, exclusive
//
// A cell is FAMILY, QUALIFIER, TIMESTAMP, 4 (a put), VALUE; all its versions are given.

import com.stumbleupon.async.Deferred;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.hbase.async.Config;
import org.hbase.async.GetRequest;
import org.hbase.async.HBaseClient;
import org.hbase.async.KeyValue;
import org.hbase.async.PutRequest;
import org.hbase.async.Scanner;

public final class Async {
  private static final HexFormat HEX = HexFormat.of();
  private static final int ALL_VERSIONS = Integer.MAX_VALUE;
  private static final long PATIENCE_MS = 60_000;
  // It refuses more than 1,000 calls that wait for a region to be found.
  private static final int AT_ONCE = 500;
  private static HBaseClient client;

  /** A question, read from left to right. */
  private static final class Words {
    private final String[] words;
    private int next = 1;

    Words(String[] words) {
      this.words = words;
    }

    byte[] bytes() {
      String word = words[next++];
      return word.equals("empty") ? new byte[0] : HEX.parseHex(word);
    }

    long number() {
      return Long.parseLong(words[next++]);
    }

    int count() {
      return Math.toIntExact(number());
    }
  }

  private static void add(StringBuilder to, byte[] value) {
    to.append(value.length == 0 ? "empty" : HEX.formatHex(value)).append(',');
  }

  private static void add(StringBuilder to, List<KeyValue> row) {
    add(to, row.isEmpty() ? new byte[0] : row.get(0).key());
    to.append(row.size()).append(',');
    for (KeyValue cell : row) {
      add(to, cell.family());
      add(to, cell.qualifier());
      to.append(cell.timestamp()).append(",4,");
      add(to, cell.value());
    }
  }

  /** Every cell is a put of its own: this client batches them by itself. */
  private static void put(Words of, StringBuilder to) throws Exception {
    byte[] table = of.bytes();
    List<Deferred<Object>> waiting = new ArrayList<>();
    for (int i = of.count(); i > 0; i--) {
      byte[] row = of.bytes();
      for (int k = of.count(); k > 0; k--) {
        byte[] family = of.bytes();
        byte[] qualifier = of.bytes();
        long at = of.number();
        waiting.add(client.put(new PutRequest(table, row, family, qualifier, of.bytes(), at)));
        if (waiting.size() == AT_ONCE) await(waiting);
      }
    }
    await(waiting);
  }

  private static void await(List<Deferred<Object>> waiting) throws Exception {
    client.flush();
    for (Deferred<Object> one : waiting) one.join(PATIENCE_MS);
    waiting.clear();
  }

  private static void get(Words of, StringBuilder to) throws Exception {
    byte[] table = of.bytes();
    List<Deferred<ArrayList<KeyValue>>> waiting = new ArrayList<>();
    for (int i = of.count(); i > 0; i--) {
      GetRequest asked = new GetRequest(table, of.bytes());
      waiting.add(client.get(asked.maxVersions(ALL_VERSIONS)));
    }
    to.append(waiting.size()).append(',');
    for (Deferred<ArrayList<KeyValue>> one : waiting) add(to, one.join(PATIENCE_MS));
  }

  private static void scan(Words of, StringBuilder to) throws Exception {
    Scanner rows = client.newScanner(of.bytes());
    rows.setStartKey(of.bytes());
    byte[] stop = of.bytes();
    if (stop.length > 0) rows.setStopKey(stop);
    rows.setMaxNumRows(of.count());
    rows.setMaxNumKeyValues(of.count());
    rows.setMaxVersions(ALL_VERSIONS);
    ArrayList<ArrayList<KeyValue>> found;
    while ((found = rows.nextRows().join(PATIENCE_MS)) != null) {
      for (ArrayList<KeyValue> row : found) add(to, row);
    }
  }

  private static String answer(String line) {
    String[] words = line.split("\t", -1);
    StringBuilder to = new StringBuilder("= ");
    try {
      switch (words[0]) {
        case "put" -> put(new Words(words), to);
        case "get" -> get(new Words(words), to);
        case "scan" -> scan(new Words(words), to);
        default -> {
          return "? no such question: " + words[0];
        }
      }
      if (to.length() > 2) to.setLength(to.length() - 1);
      return to.toString();
    } catch (Throwable e) {
      String first = String.valueOf(e.getMessage()).lines().findFirst().orElse("");
      return "! " + e.getClass().getSimpleName() + ": " + first;
    }
  }

  public static void main(String[] given) throws IOException {
    BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8), 1 << 16);
    BufferedWriter out =
        new BufferedWriter(
            new OutputStreamWriter(
                new FileOutputStream(FileDescriptor.out), StandardCharsets.UTF_8),
            1 << 16);
    // A library that prints would otherwise stand in the middle of the answers.
    System.setOut(System.err);
    Config settings = new Config();
    settings.overrideConfig("hbase.zookeeper.quorum", given[0]);
    client = new HBaseClient(settings);
    for (String line; (line = in.readLine()) != null; ) {
      out.write(answer(line));
      out.write('\n');
      out.flush();
    }
    // The client's own threads would keep the program alive without anybody to ask it.
    Runtime.getRuntime().halt(0);
  }
}
