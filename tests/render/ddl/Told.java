// What classes that create tables would create, told without a cluster: for each class named as an
// argument one line of words with commas between, text and bytes as hex, `empty` where there is
// none. First of all a line that tells what HBase itself says of a table with a family `d`.

import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptor;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;

public final class Told {
  private static final HexFormat HEX = HexFormat.of();
  private final List<String> words = new ArrayList<>();

  public static void main(String[] names) throws Exception {
    ColumnFamilyDescriptor family = ColumnFamilyDescriptorBuilder.of("d");
    TableDescriptorBuilder plain = TableDescriptorBuilder.newBuilder(TableName.valueOf("t"));
    tell(plain.setColumnFamily(family).build(), new byte[0][]);
    for (String name : names) {
      Class<?> program = Class.forName(name);
      tell((TableDescriptor) call(program, "table"), (byte[][]) call(program, "splits"));
    }
  }

  private static Object call(Class<?> program, String name) throws Exception {
    Method method = program.getDeclaredMethod(name);
    method.setAccessible(true);
    return method.invoke(null);
  }

  private static void tell(TableDescriptor table, byte[][] splits) {
    Told told = new Told();
    told.add(table.getTableName().getNameAsString()).count(table.getColumnFamilyCount());
    for (ColumnFamilyDescriptor family : table.getColumnFamilies()) {
      told.add(family.getName()).count(family.getValues().size());
      family.getValues().forEach((word, value) -> told.add(word.copyBytes()).add(value.copyBytes()));
      told.count(family.getConfiguration().size());
      family.getConfiguration().forEach((word, value) -> told.add(word).add(value));
    }
    told.count(table.getValues().size());
    table.getValues().forEach((word, value) -> told.add(word.copyBytes()).add(value.copyBytes()));
    told.count(splits.length);
    for (byte[] split : splits) told.add(split);
    System.out.println(String.join(",", told.words));
  }

  private Told add(byte[] value) {
    words.add(value.length == 0 ? "empty" : HEX.formatHex(value));
    return this;
  }

  private Told add(String value) {
    return add(value.getBytes(StandardCharsets.UTF_8));
  }

  private void count(int value) {
    words.add(Integer.toString(value));
  }
}
