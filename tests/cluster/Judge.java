// What a real HBase does, asked through its official client: one question a line on stdin, one
// answer a line on stdout, in order. Started with `key=value` settings as arguments.
//
// A question is a name and words with tabs between: bytes as lower-case hex, text as the hex of its
// UTF-8, whole numbers in decimal, `true` and `false`, and the marks `empty` (no bytes, no text) and
// `null`. A list is its length, then its elements.
//
// An answer is `= WORDS`, with commas between; `! CLASS: FIRST LINE` when HBase or its client threw;
// `? REASON` when the question could not be put at all.

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.ClusterMetrics;
import org.apache.hadoop.hbase.CompareOperator;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.HRegionLocation;
import org.apache.hadoop.hbase.NamespaceDescriptor;
import org.apache.hadoop.hbase.RegionMetrics;
import org.apache.hadoop.hbase.ServerName;
import org.apache.hadoop.hbase.Size;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.TableNotFoundException;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.Append;
import org.apache.hadoop.hbase.client.CheckAndMutate;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptor;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.CompactionState;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.client.Mutation;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.RegionLocator;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.RetriesExhaustedWithDetailsException;
import org.apache.hadoop.hbase.client.Row;
import org.apache.hadoop.hbase.client.RowMutations;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.filter.ColumnRangeFilter;
import org.apache.hadoop.hbase.util.Bytes;

public final class Judge {
  private static final HexFormat HEX = HexFormat.of();
  private static final Map<String, Call> CALLS = new HashMap<>();
  private static final int KIND_PUT = 4;
  private static final int KIND_DELETE = 8;
  private static final int KIND_DELETE_FAMILY_VERSION = 10;
  private static final int KIND_DELETE_COLUMN = 12;
  private static final int KIND_DELETE_FAMILY = 14;
  private static final long POLL_MS = 20;

  private static Configuration settings;
  private static Connection connection;
  private static Admin admin;

  /** What one name stands for. */
  private interface Call {
    void answer(Words of, Answer to) throws Throwable;
  }

  /** A question that says nothing about HBase: ours is the mistake, not its. */
  private static final class BadQuestion extends RuntimeException {
    private static final long serialVersionUID = 1L;

    BadQuestion(String reason) {
      super(reason);
    }
  }

  /** A question, read from left to right. */
  private static final class Words {
    private final String[] words;
    private int next = 1;

    Words(String[] words) {
      this.words = words;
    }

    String word() {
      if (next == words.length) throw new BadQuestion("word " + next + " is missing");
      return words[next++];
    }

    byte[] bytes() {
      String word = word();
      if (word.equals("null")) return null;
      if (word.equals("empty")) return new byte[0];
      try {
        return HEX.parseHex(word);
      } catch (IllegalArgumentException e) {
        throw new BadQuestion("word " + (next - 1) + " is not hex: " + word);
      }
    }

    String text() {
      byte[] utf8 = bytes();
      return utf8 == null ? null : new String(utf8, StandardCharsets.UTF_8);
    }

    long number() {
      try {
        return Long.parseLong(word());
      } catch (NumberFormatException e) {
        throw new BadQuestion("word " + (next - 1) + " is no number: " + words[next - 1]);
      }
    }

    Long numberOrNull() {
      if (!words[next].equals("null")) return number();
      next++;
      return null;
    }

    int count() {
      return Math.toIntExact(number());
    }

    boolean truth() {
      String word = word();
      if (word.equals("true") || word.equals("false")) return word.equals("true");
      throw new BadQuestion("word " + (next - 1) + " is neither true nor false: " + word);
    }

    TableName table() {
      return TableName.valueOf(text());
    }

    void end() {
      if (next != words.length) throw new BadQuestion((words.length - next) + " words too many");
    }
  }

  /** The words of an answer. */
  private static final class Answer {
    private final StringBuilder words = new StringBuilder("= ");

    private Answer word(String word) {
      if (words.length() > 2) words.append(',');
      words.append(word);
      return this;
    }

    Answer add(byte[] value) {
      if (value == null) return word("null");
      return word(value.length == 0 ? "empty" : HEX.formatHex(value));
    }

    Answer add(String value) {
      return add(value == null ? null : value.getBytes(StandardCharsets.UTF_8));
    }

    Answer add(long value) {
      return word(Long.toString(value));
    }

    Answer add(boolean value) {
      return word(Boolean.toString(value));
    }

    Answer add(Result piece) {
      // Without cells a result has no row; whoever asked for it knows which one it was.
      add(piece.getRow() == null ? new byte[0] : piece.getRow()).add(piece.size());
      for (Cell cell : piece.isEmpty() ? new Cell[0] : piece.rawCells()) {
        add(CellUtil.cloneFamily(cell)).add(CellUtil.cloneQualifier(cell));
        add(cell.getTimestamp()).add(cell.getType().getCode()).add(CellUtil.cloneValue(cell));
      }
      return this;
    }
  }

  /** Connects when the first question needs it: until then there may be nothing to connect to. */
  private static Connection connection() throws IOException {
    if (connection == null) connection = ConnectionFactory.createConnection(settings);
    return connection;
  }

  private static Admin admin() throws IOException {
    if (admin == null) admin = connection().getAdmin();
    return admin;
  }

  // ---------------------------------------------------------------- the cluster

  /** The live servers, once the master answers what it answers only when it is initialised. */
  private static void ready(Words of, Answer to) throws IOException {
    of.end();
    Configuration impatient = new Configuration(settings);
    impatient.setInt("hbase.client.retries.number", 1);
    impatient.setInt("hbase.rpc.timeout", 2_000);
    impatient.setInt("hbase.client.operation.timeout", 2_000);
    impatient.setInt("hbase.client.meta.operation.timeout", 2_000);
    impatient.setInt("zookeeper.recovery.retry", 0);
    try (Connection briefly = ConnectionFactory.createConnection(impatient);
        Admin asked = briefly.getAdmin()) {
      ClusterMetrics found = asked.getClusterMetrics(EnumSet.of(ClusterMetrics.Option.LIVE_SERVERS));
      asked.listNamespaceDescriptors();
      to.add(found.getLiveServerMetrics().size());
    }
  }

  private static void status(Words of, Answer to) throws IOException {
    of.end();
    ClusterMetrics found = admin().getClusterMetrics();
    to.add(String.valueOf(found.getMasterName())).add(found.getRegionStatesInTransition().size());
    to.add(found.getLiveServerMetrics().size());
    for (ServerName server : found.getLiveServerMetrics().keySet()) {
      to.add(server.toString());
      to.add(found.getLiveServerMetrics().get(server).getRegionMetrics().size());
    }
    to.add(found.getDeadServerNames().size());
    for (ServerName server : found.getDeadServerNames()) to.add(server.toString());
  }

  /** No region moves or is divided unless a test says so. */
  private static void settle(Words of, Answer to) throws IOException {
    of.end();
    admin().balancerSwitch(false, true);
    admin().normalizerSwitch(false);
  }

  private static void ofCluster() {
    CALLS.put("ready", Judge::ready);
    CALLS.put("status", Judge::status);
    CALLS.put("settle", Judge::settle);
    CALLS.put("now", (of, to) -> to.add(System.currentTimeMillis()));
  }

  // ---------------------------------------------------------------- tables

  private static ColumnFamilyDescriptor family(Words of, TableDescriptor known) {
    byte[] name = of.bytes();
    ColumnFamilyDescriptor old = known == null ? null : known.getColumnFamily(name);
    ColumnFamilyDescriptorBuilder made =
        old == null
            ? ColumnFamilyDescriptorBuilder.newBuilder(name)
            : ColumnFamilyDescriptorBuilder.newBuilder(old);
    for (int i = of.count(); i > 0; i--) made.setValue(of.text(), of.text());
    for (int i = of.count(); i > 0; i--) made.setConfiguration(of.text(), of.text());
    return made.build();
  }

  private static void create(Words of, Answer to) throws IOException {
    TableDescriptorBuilder made = TableDescriptorBuilder.newBuilder(of.table());
    for (int i = of.count(); i > 0; i--) made.setColumnFamily(family(of, null));
    for (int i = of.count(); i > 0; i--) made.setValue(of.text(), of.text());
    byte[][] splits = new byte[of.count()][];
    for (int i = 0; i < splits.length; i++) splits[i] = of.bytes();
    of.end();
    TableDescriptor table = made.build();
    needNamespace(table.getTableName().getNamespaceAsString());
    if (splits.length == 0) admin().createTable(table);
    else admin().createTable(table, splits);
  }

  private static void needNamespace(String name) throws IOException {
    if (Arrays.asList(admin().listNamespaces()).contains(name)) return;
    admin().createNamespace(NamespaceDescriptor.create(name).build());
  }

  private static void describe(Words of, Answer to) throws IOException {
    TableName name = of.table();
    of.end();
    TableDescriptor table = admin().getDescriptor(name);
    to.add(table.getColumnFamilyCount());
    for (ColumnFamilyDescriptor family : table.getColumnFamilies()) {
      to.add(family.getName()).add(family.getValues().size());
      family.getValues().forEach((word, value) -> to.add(word.copyBytes()).add(value.copyBytes()));
      to.add(family.getConfiguration().size());
      family.getConfiguration().forEach((word, value) -> to.add(word).add(value));
    }
    to.add(table.getValues().size());
    table.getValues().forEach((word, value) -> to.add(word.copyBytes()).add(value.copyBytes()));
  }

  private static void alter(Words of, Answer to) throws IOException {
    TableDescriptor known = admin().getDescriptor(of.table());
    TableDescriptorBuilder made = TableDescriptorBuilder.newBuilder(known);
    for (int i = of.count(); i > 0; i--) {
      ColumnFamilyDescriptor family = family(of, known);
      if (known.hasColumnFamily(family.getName())) made.modifyColumnFamily(family);
      else made.setColumnFamily(family);
    }
    of.end();
    admin().modifyTable(made.build());
  }

  /** Sets words of a table; a null removes one. */
  private static void annotate(Words of, Answer to) throws IOException {
    TableDescriptor known = admin().getDescriptor(of.table());
    TableDescriptorBuilder made = TableDescriptorBuilder.newBuilder(known);
    for (int i = of.count(); i > 0; i--) {
      String word = of.text();
      String value = of.text();
      if (value == null) made.removeValue(word);
      else made.setValue(word, value);
    }
    of.end();
    admin().modifyTable(made.build());
  }

  private static void drop(Words of, Answer to) throws IOException {
    TableName table = of.table();
    of.end();
    if (!admin().tableExists(table)) throw new TableNotFoundException(table);
    if (!admin().isTableDisabled(table)) admin().disableTable(table);
    admin().deleteTable(table);
  }

  private static void truncate(Words of, Answer to) throws IOException {
    TableName table = of.table();
    boolean keepSplits = of.truth();
    of.end();
    if (!admin().isTableDisabled(table)) admin().disableTable(table);
    admin().truncateTable(table, keepSplits);
  }

  private static void tables(Words of, Answer to) throws IOException {
    of.end();
    TableName[] names = admin().listTableNames();
    to.add(names.length);
    for (TableName name : names) to.add(name.getNameAsString());
  }

  private static void snapshot(Words of, Answer to) throws IOException {
    TableName table = of.table();
    TableName copy = of.table();
    of.end();
    String name = copy.getNameAsString().replace(':', '-');
    admin().snapshot(name, table);
    try {
      admin().cloneSnapshot(name, copy);
    } finally {
      admin().deleteSnapshot(name);
    }
  }

  private static void ofTables() {
    CALLS.put("create", Judge::create);
    CALLS.put("describe", Judge::describe);
    CALLS.put("alter", Judge::alter);
    CALLS.put("annotate", Judge::annotate);
    CALLS.put("drop", Judge::drop);
    CALLS.put("truncate", Judge::truncate);
    CALLS.put("tables", Judge::tables);
    CALLS.put("snapshot", Judge::snapshot);
  }

  // ---------------------------------------------------------------- writes

  private static void add(Mutation to, int kind, byte[] family, byte[] qualifier, long at,
      byte[] value) {
    if (kind == KIND_PUT) {
      ((Put) to).addColumn(family, qualifier, at, value);
      return;
    }
    Delete delete = (Delete) to;
    switch (kind) {
      case KIND_DELETE -> delete.addColumn(family, qualifier, at);
      case KIND_DELETE_COLUMN -> delete.addColumns(family, qualifier, at);
      case KIND_DELETE_FAMILY -> delete.addFamily(family, at);
      case KIND_DELETE_FAMILY_VERSION -> delete.addFamilyVersion(family, at);
      default -> throw new BadQuestion("no kind of cell: " + kind);
    }
  }

  /** The cells of one row as mutations in their order: each of one class and one time to live. */
  private static List<Mutation> mutations(Words of, byte[] row) {
    List<Mutation> made = new ArrayList<>();
    Long lastTtl = null;
    for (int i = of.count(); i > 0; i--) {
      byte[] family = of.bytes();
      byte[] qualifier = of.bytes();
      long at = of.number();
      int kind = of.count();
      byte[] value = of.bytes();
      Long ttl = of.numberOrNull();
      Class<?> wanted = kind == KIND_PUT ? Put.class : Delete.class;
      Mutation last = made.isEmpty() ? null : made.get(made.size() - 1);
      // Delete.addFamily, on a server as well, forgets what the Delete says of the family so far.
      boolean forgets =
          kind == KIND_DELETE_FAMILY && last != null && last.getFamilyCellMap().containsKey(family);
      boolean differs =
          last == null || last.getClass() != wanted || !Objects.equals(ttl, lastTtl);
      if (forgets || differs) {
        last = kind == KIND_PUT ? new Put(row) : new Delete(row);
        if (ttl != null) last.setTTL(ttl);
        made.add(last);
        lastTtl = ttl;
      }
      add(last, kind, family, qualifier, at, value);
    }
    return made;
  }

  /** One mutation as it is, several as one that is applied whole; none is the client's to refuse. */
  private static Row together(byte[] row, List<Mutation> parts) throws IOException {
    if (parts.isEmpty()) return new Put(row);
    if (parts.size() == 1) return parts.get(0);
    RowMutations whole = new RowMutations(row, parts.size());
    whole.add(parts);
    return whole;
  }

  private static void mutate(Words of, Answer to) throws IOException, InterruptedException {
    TableName name = of.table();
    List<Row> rows = new ArrayList<>();
    for (int i = of.count(); i > 0; i--) {
      byte[] row = of.bytes();
      rows.add(together(row, mutations(of, row)));
    }
    of.end();
    try (Table table = connection().getTable(name)) {
      // Within a batch the server orders as it likes: the next one begins where a row comes again.
      List<Row> batch = new ArrayList<>();
      Set<String> seen = new HashSet<>();
      for (Row row : rows) {
        if (!seen.add(HEX.formatHex(row.getRow()))) {
          send(table, batch);
          batch.clear();
          seen.clear();
          seen.add(HEX.formatHex(row.getRow()));
        }
        batch.add(row);
      }
      send(table, batch);
    }
  }

  private static void send(Table table, List<Row> batch) throws IOException, InterruptedException {
    if (batch.size() > 1) table.batch(batch, new Object[batch.size()]);
    else if (!batch.isEmpty()) {
      Row one = batch.get(0);
      if (one instanceof Put put) table.put(put);
      else if (one instanceof Delete delete) table.delete(delete);
      else table.mutateRow((RowMutations) one);
    }
  }

  private static void increment(Words of, Answer to) throws IOException {
    TableName name = of.table();
    Increment asked = new Increment(of.bytes());
    List<byte[][]> columns = new ArrayList<>();
    for (int i = of.count(); i > 0; i--) {
      columns.add(new byte[][] {of.bytes(), of.bytes()});
      byte[][] column = columns.get(columns.size() - 1);
      asked.addColumn(column[0], column[1], of.number());
    }
    of.end();
    try (Table table = connection().getTable(name)) {
      Result told = table.increment(asked);
      for (byte[][] column : columns) {
        to.add(Bytes.toLong(told.getValue(column[0], column[1])));
      }
    }
  }

  private static void append(Words of, Answer to) throws IOException {
    TableName name = of.table();
    Append asked = new Append(of.bytes());
    List<byte[][]> columns = new ArrayList<>();
    for (int i = of.count(); i > 0; i--) {
      columns.add(new byte[][] {of.bytes(), of.bytes()});
      byte[][] column = columns.get(columns.size() - 1);
      asked.addColumn(column[0], column[1], of.bytes());
    }
    of.end();
    try (Table table = connection().getTable(name)) {
      Result told = table.append(asked);
      for (byte[][] column : columns) to.add(told.getValue(column[0], column[1]));
    }
  }

  /** The operator is HBase's: read as `value OPERATOR cell`. */
  private static void checkAndMutate(Words of, Answer to) throws IOException {
    TableName name = of.table();
    byte[] row = of.bytes();
    byte[] family = of.bytes();
    byte[] qualifier = of.bytes();
    CompareOperator operator = CompareOperator.valueOf(of.text());
    byte[] value = of.bytes();
    CheckAndMutate.Builder check =
        CheckAndMutate.newBuilder(row).ifMatches(family, qualifier, operator, value);
    Row whole = together(row, mutations(of, row));
    of.end();
    CheckAndMutate asked;
    if (whole instanceof Put put) asked = check.build(put);
    else if (whole instanceof Delete delete) asked = check.build(delete);
    else asked = check.build((RowMutations) whole);
    try (Table table = connection().getTable(name)) {
      to.add(table.checkAndMutate(asked).isSuccess());
    }
  }

  private static void ofWrites() {
    CALLS.put("mutate", Judge::mutate);
    CALLS.put("increment", Judge::increment);
    CALLS.put("append", Judge::append);
    CALLS.put("checkAndMutate", Judge::checkAndMutate);
  }

  // ---------------------------------------------------------------- reads

  /** What gets and scans have in common; nulls where nothing was said. */
  private record Wanted(
      Map<byte[], List<byte[]>> columns, Long from, Long to, int versions, byte[] first, byte[] end) {
    static Wanted of(Words of) {
      Map<byte[], List<byte[]>> columns = new TreeMap<>(Bytes.BYTES_COMPARATOR);
      for (int i = of.count(); i > 0; i--) {
        List<byte[]> qualifiers = columns.computeIfAbsent(of.bytes(), any -> new ArrayList<>());
        for (int k = of.count(); k > 0; k--) qualifiers.add(of.bytes());
      }
      return new Wanted(
          columns, of.numberOrNull(), of.numberOrNull(), of.count(), of.bytes(), of.bytes());
    }

    ColumnRangeFilter range() {
      if (first == null && end == null) return null;
      return new ColumnRangeFilter(first, true, end, false);
    }
  }

  private static Get get(byte[] row, Wanted wanted) throws IOException {
    Get asked = new Get(row).readVersions(wanted.versions);
    for (Map.Entry<byte[], List<byte[]>> family : wanted.columns.entrySet()) {
      if (family.getValue().isEmpty()) asked.addFamily(family.getKey());
      for (byte[] qualifier : family.getValue()) asked.addColumn(family.getKey(), qualifier);
    }
    if (wanted.from != null) asked.setTimeRange(wanted.from, wanted.to);
    if (wanted.range() != null) asked.setFilter(wanted.range());
    return asked;
  }

  private static Scan scan(Wanted wanted) throws IOException {
    Scan asked = new Scan().readVersions(wanted.versions);
    for (Map.Entry<byte[], List<byte[]>> family : wanted.columns.entrySet()) {
      if (family.getValue().isEmpty()) asked.addFamily(family.getKey());
      for (byte[] qualifier : family.getValue()) asked.addColumn(family.getKey(), qualifier);
    }
    if (wanted.from != null) asked.setTimeRange(wanted.from, wanted.to);
    if (wanted.range() != null) asked.setFilter(wanted.range());
    return asked;
  }

  private static void get(Words of, Answer to) throws IOException {
    TableName name = of.table();
    Wanted wanted = Wanted.of(of);
    List<Get> asked = new ArrayList<>();
    for (int i = of.count(); i > 0; i--) asked.add(get(of.bytes(), wanted));
    of.end();
    try (Table table = connection().getTable(name)) {
      Result[] found =
          asked.size() == 1 ? new Result[] {table.get(asked.get(0))} : table.get(asked);
      to.add(found.length);
      for (Result row : found) to.add(row);
    }
  }

  private static void scan(Words of, Answer to) throws IOException {
    TableName name = of.table();
    Scan asked = scan(Wanted.of(of));
    asked.withStartRow(of.bytes(), of.truth()).withStopRow(of.bytes(), of.truth());
    asked.setReversed(of.truth()).setRaw(of.truth());
    Long limit = of.numberOrNull();
    if (limit != null) asked.setLimit(Math.toIntExact(limit));
    Long batch = of.numberOrNull();
    if (batch != null) asked.setBatch(Math.toIntExact(batch));
    Long caching = of.numberOrNull();
    if (caching != null) asked.setCaching(Math.toIntExact(caching));
    of.end();
    try (Table table = connection().getTable(name);
        ResultScanner rows = table.getScanner(asked)) {
      for (Result piece : rows) to.add(piece);
    }
  }

  private static void ofReads() {
    CALLS.put("get", Judge::get);
    CALLS.put("scan", Judge::scan);
  }

  // ---------------------------------------------------------------- regions

  private static List<HRegionLocation> locations(TableName table) throws IOException {
    try (RegionLocator locator = connection().getRegionLocator(table)) {
      locator.clearRegionLocationCache();
      List<HRegionLocation> found = locator.getAllRegionLocations();
      found.sort(Comparator.comparing(HRegionLocation::getRegion, RegionInfo.COMPARATOR));
      return found;
    }
  }

  private static HRegionLocation location(TableName table, byte[] row) throws IOException {
    try (RegionLocator locator = connection().getRegionLocator(table)) {
      return locator.getRegionLocation(row, true);
    }
  }

  /** The counters come from the servers themselves, so they are as of now. */
  private static void regions(Words of, Answer to) throws IOException {
    TableName table = of.table();
    of.end();
    List<HRegionLocation> places = locations(table);
    Map<String, RegionMetrics> told = new HashMap<>();
    Set<ServerName> servers = new HashSet<>();
    for (HRegionLocation place : places) servers.add(place.getServerName());
    for (ServerName server : servers) {
      if (server == null) continue;
      for (RegionMetrics region : admin().getRegionMetrics(server, table)) {
        told.put(RegionInfo.encodeRegionName(region.getRegionName()), region);
      }
    }
    to.add(places.size());
    for (HRegionLocation place : places) {
      RegionInfo region = place.getRegion();
      RegionMetrics counted = told.get(region.getEncodedName());
      to.add(region.getStartKey()).add(region.getEndKey()).add(region.getEncodedName());
      to.add(place.getServerName() == null ? null : place.getServerName().toString());
      to.add(counted == null ? -1 : counted.getWriteRequestCount());
      to.add(counted == null ? -1 : counted.getReadRequestCount());
      to.add(counted == null ? -1 : counted.getStoreFileCount());
      to.add(counted == null ? -1 : (long) counted.getStoreFileSize().get(Size.Unit.BYTE));
    }
  }

  private static void flush(Words of, Answer to) throws IOException {
    TableName table = of.table();
    of.end();
    admin().flush(table);
  }

  /** Ends when no region of the table is compacting any more. */
  private static void compact(Words of, Answer to) throws IOException, InterruptedException {
    TableName table = of.table();
    boolean major = of.truth();
    of.end();
    if (major) admin().majorCompact(table);
    else admin().compact(table);
    while (admin().getCompactionState(table) != CompactionState.NONE) Thread.sleep(POLL_MS);
  }

  private static void split(Words of, Answer to) throws Exception {
    TableName table = of.table();
    byte[] at = of.bytes();
    long patience = of.number();
    of.end();
    byte[] region = location(table, at).getRegion().getRegionName();
    admin().splitRegionAsync(region, at).get(patience, TimeUnit.MILLISECONDS);
  }

  private static void move(Words of, Answer to) throws IOException, InterruptedException {
    TableName table = of.table();
    byte[] row = of.bytes();
    ServerName server = ServerName.valueOf(of.text());
    of.end();
    byte[] region = location(table, row).getRegion().getEncodedNameAsBytes();
    admin().move(region, server);
    while (!server.equals(location(table, row).getServerName())) Thread.sleep(POLL_MS);
  }

  private static void ofRegions() {
    CALLS.put("regions", Judge::regions);
    CALLS.put("flush", Judge::flush);
    CALLS.put("compact", Judge::compact);
    CALLS.put("split", Judge::split);
    CALLS.put("move", Judge::move);
  }

  // ---------------------------------------------------------------- the loop

  private static Throwable inner(Throwable thrown) {
    if (thrown instanceof RetriesExhaustedWithDetailsException many) return inner(many.getCause(0));
    boolean wraps = thrown instanceof ExecutionException || thrown instanceof UncheckedIOException;
    return wraps && thrown.getCause() != null ? inner(thrown.getCause()) : thrown;
  }

  private static String answer(String line) {
    String[] words = line.split("\t", -1);
    Call call = CALLS.get(words[0]);
    if (call == null) return "? no such question: " + words[0];
    try {
      Answer to = new Answer();
      call.answer(new Words(words), to);
      return to.words.toString();
    } catch (BadQuestion e) {
      return "? " + words[0] + ": " + e.getMessage();
    } catch (LinkageError | OutOfMemoryError e) {
      return "? " + words[0] + ": " + e.toString().replace('\n', ' ');
    } catch (Throwable e) {
      Throwable told = inner(e);
      String first = String.valueOf(told.getMessage()).lines().findFirst().orElse("");
      return "! " + told.getClass().getSimpleName() + ": " + first;
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
    settings = HBaseConfiguration.create();
    for (String setting : given) {
      int equals = setting.indexOf('=');
      settings.set(setting.substring(0, equals), setting.substring(equals + 1));
    }
    ofCluster();
    ofTables();
    ofWrites();
    ofReads();
    ofRegions();
    for (String line; (line = in.readLine()) != null; ) {
      out.write(answer(line));
      out.write('\n');
      // One question at a time is answered at once, thousands in a row are answered in blocks.
      if (!in.ready()) out.flush();
    }
    // The client's own threads would keep the program alive without anybody to ask it.
    Runtime.getRuntime().halt(0);
  }
}
