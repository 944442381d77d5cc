// Answers from HBase's own classes, so that rowkey's bytes are compared with the code that defines
// them. Reads questions from stdin, one a line, and writes one line for each, in order.
//
// A question is a name and its arguments with tabs between: bytes as lower-case hex, text as the
// hex of its UTF-8, whole numbers in decimal, `true` and `false`, and the marks `empty` (no bytes,
// no text) and `null`. Arguments at the end may be left out: they are null.
//
// An answer is `= VALUE` (the same spelling; a list has commas between, and is `none` without
// elements), `! CLASS` when the asked class threw, or `? REASON` when the question could not be put
// at all: an unknown name, a bad argument, a class missing from the class path.

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.StringJoiner;
import java.util.zip.CRC32;
import org.apache.hadoop.hbase.client.ClientUtil;
import org.apache.hadoop.hbase.util.ByteArrayHashKey;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.util.Hash;
import org.apache.hadoop.hbase.util.Order;
import org.apache.hadoop.hbase.util.OrderedBytes;
import org.apache.hadoop.hbase.util.PositionedByteRange;
import org.apache.hadoop.hbase.util.RegionSplitter;
import org.apache.hadoop.hbase.util.RegionSplitter.SplitAlgorithm;
import org.apache.hadoop.hbase.util.SimplePositionedMutableByteRange;

public final class Oracle {
  private static final HexFormat HEX = HexFormat.of();
  private static final Map<String, Call> CALLS = new HashMap<>();

  /** What one name stands for. */
  private interface Call {
    String answer(Arguments of) throws Throwable;
  }

  /** A question that says nothing about HBase: ours is the mistake, not its. */
  private static final class BadQuestion extends RuntimeException {
    private static final long serialVersionUID = 1L;

    BadQuestion(String reason) {
      super(reason);
    }
  }

  /** One question: its name, and its arguments from 1. */
  private record Arguments(String[] words) {
    private String word(int index) {
      return index < words.length ? words[index] : "null";
    }

    byte[] bytes(int index) {
      String word = word(index);
      if (word.equals("null")) return null;
      if (word.equals("empty")) return new byte[0];
      try {
        return HEX.parseHex(word);
      } catch (IllegalArgumentException e) {
        throw new BadQuestion("argument " + index + " is not hex: " + word);
      }
    }

    String name(int index) {
      String name = text(index);
      if (name == null) throw new BadQuestion("argument " + index + " is missing");
      return name;
    }

    String text(int index) {
      byte[] utf8 = bytes(index);
      return utf8 == null ? null : new String(utf8, StandardCharsets.UTF_8);
    }

    byte[] exactly(int index, int width) {
      byte[] value = bytes(index);
      if (value != null && value.length == width) return value;
      throw new BadQuestion("argument " + index + " is not " + width + " bytes: " + word(index));
    }

    long whole(int index, long least, long most) {
      try {
        long value = Long.parseLong(word(index));
        if (value >= least && value <= most) return value;
      } catch (NumberFormatException e) {
        // said below, together with the values out of range
      }
      throw new BadQuestion(
          "argument " + index + " is not within " + least + ".." + most + ": " + word(index));
    }

    byte int8(int index) {
      return (byte) whole(index, Byte.MIN_VALUE, Byte.MAX_VALUE);
    }

    short int16(int index) {
      return (short) whole(index, Short.MIN_VALUE, Short.MAX_VALUE);
    }

    int int32(int index) {
      return (int) whole(index, Integer.MIN_VALUE, Integer.MAX_VALUE);
    }

    long int64(int index) {
      return whole(index, Long.MIN_VALUE, Long.MAX_VALUE);
    }

    float float32(int index) {
      return Float.intBitsToFloat(ByteBuffer.wrap(exactly(index, Float.BYTES)).getInt());
    }

    double float64(int index) {
      return Double.longBitsToDouble(ByteBuffer.wrap(exactly(index, Double.BYTES)).getLong());
    }

    boolean truth(int index) {
      String word = word(index);
      if (word.equals("true") || word.equals("false")) return word.equals("true");
      throw new BadQuestion("argument " + index + " is neither true nor false: " + word);
    }

    void atMost(int count) {
      if (words.length - 1 > count) {
        throw new BadQuestion("takes " + count + " arguments, not " + (words.length - 1));
      }
    }
  }

  /** Enters a name: `most` arguments are allowed. */
  private static void call(String name, int most, Call call) {
    CALLS.put(
        name,
        of -> {
          of.atMost(most);
          return call.answer(of);
        });
  }

  private static String hex(byte[] value) {
    if (value == null) return "null";
    return value.length == 0 ? "empty" : HEX.formatHex(value);
  }

  private static String hex(String value) {
    return value == null ? "null" : hex(value.getBytes(StandardCharsets.UTF_8));
  }

  private static String hex(byte[][] values) {
    if (values == null) return "null";
    if (values.length == 0) return "none";
    StringJoiner list = new StringJoiner(",");
    for (byte[] value : values) list.add(hex(value));
    return list.toString();
  }

  private static String hex(float value) {
    int bits = Float.floatToRawIntBits(value);
    return hex(ByteBuffer.allocate(Float.BYTES).putInt(bits).array());
  }

  private static String hex(double value) {
    long bits = Double.doubleToRawLongBits(value);
    return hex(ByteBuffer.allocate(Double.BYTES).putLong(bits).array());
  }

  // ---------------------------------------------------------------- RegionSplitter

  /** The named algorithm; its first and last row set from two arguments, where they are given. */
  private static SplitAlgorithm algorithm(Arguments of, int firstRow) {
    String name = of.name(1);
    SplitAlgorithm algorithm =
        switch (name) {
          case "HexStringSplit" -> new RegionSplitter.HexStringSplit();
          case "DecimalStringSplit" -> new RegionSplitter.DecimalStringSplit();
          case "UniformSplit" -> new RegionSplitter.UniformSplit();
          default -> throw new BadQuestion("no split algorithm: " + name);
        };
    // The number algorithms obey rows given as text only, UniformSplit takes them as bytes.
    boolean asBytes = algorithm instanceof RegionSplitter.UniformSplit;
    byte[] first = of.bytes(firstRow);
    if (first != null && asBytes) algorithm.setFirstRow(first);
    if (first != null && !asBytes) algorithm.setFirstRow(of.text(firstRow));
    byte[] last = of.bytes(firstRow + 1);
    if (last != null && asBytes) algorithm.setLastRow(last);
    if (last != null && !asBytes) algorithm.setLastRow(of.text(firstRow + 1));
    return algorithm;
  }

  private static void regionSplitter() {
    call("RegionSplitter.split", 4, of -> hex(algorithm(of, 3).split(of.int32(2))));
    call("RegionSplitter.midpoint", 5, of -> hex(algorithm(of, 4).split(of.bytes(2), of.bytes(3))));
    call(
        "RegionSplitter.within",
        7,
        of -> hex(algorithm(of, 6).split(of.bytes(2), of.bytes(3), of.int32(4), of.truth(5))));
  }

  // ---------------------------------------------------------------- Bytes

  private static byte[] toBytes(Arguments of) {
    String type = of.name(1);
    return switch (type) {
      case "short" -> Bytes.toBytes(of.int16(2));
      case "int" -> Bytes.toBytes(of.int32(2));
      case "long" -> Bytes.toBytes(of.int64(2));
      case "float" -> Bytes.toBytes(of.float32(2));
      case "double" -> Bytes.toBytes(of.float64(2));
      default -> throw new BadQuestion("no type of Bytes.toBytes: " + type);
    };
  }

  private static void bytes() {
    call("Bytes.toBytes", 2, of -> hex(toBytes(of)));
    call(
        "Bytes.split",
        4,
        of -> hex(Bytes.split(of.bytes(1), of.bytes(2), of.truth(3), of.int32(4))));
    call("Bytes.toStringBinary", 1, of -> hex(Bytes.toStringBinary(of.bytes(1))));
    call("Bytes.toBytesBinary", 1, of -> hex(Bytes.toBytesBinary(of.text(1))));
    call("Bytes.hashCode", 1, of -> "" + Bytes.hashCode(of.bytes(1)));
    call(
        "Bytes.compareTo",
        2,
        of -> "" + Integer.signum(Bytes.compareTo(of.bytes(1), of.bytes(2))));
    call(
        "ClientUtil.calculateTheClosestNextRowKeyForPrefix",
        1,
        of -> hex(ClientUtil.calculateTheClosestNextRowKeyForPrefix(of.bytes(1))));
    call(
        "MurmurHash3.hash",
        1,
        of -> {
          byte[] key = of.bytes(1);
          ByteArrayHashKey whole = new ByteArrayHashKey(key, 0, key.length);
          return Integer.toUnsignedString(Hash.getInstance(Hash.MURMUR_HASH3).hash(whole, 0));
        });
  }

  // ---------------------------------------------------------------- OrderedBytes

  /** A range with room for every encoding of `value`: BlobVar turns 7 bytes into 8. */
  private static PositionedByteRange room(String value) {
    return new SimplePositionedMutableByteRange(new byte[value.length() + 16]);
  }

  private static Order order(String name) {
    return switch (name) {
      case "ASCENDING" -> Order.ASCENDING;
      case "DESCENDING" -> Order.DESCENDING;
      default -> throw new BadQuestion("no Order: " + name);
    };
  }

  private static String encode(Arguments of) {
    String type = of.name(1);
    Order order = order(of.name(2));
    PositionedByteRange to = room(of.word(3));
    int length =
        switch (type) {
          case "Int8" -> OrderedBytes.encodeInt8(to, of.int8(3), order);
          case "Int16" -> OrderedBytes.encodeInt16(to, of.int16(3), order);
          case "Int32" -> OrderedBytes.encodeInt32(to, of.int32(3), order);
          case "Int64" -> OrderedBytes.encodeInt64(to, of.int64(3), order);
          case "Float32" -> OrderedBytes.encodeFloat32(to, of.float32(3), order);
          case "Float64" -> OrderedBytes.encodeFloat64(to, of.float64(3), order);
          case "String" -> OrderedBytes.encodeString(to, of.text(3), order);
          case "BlobVar" -> OrderedBytes.encodeBlobVar(to, of.bytes(3), order);
          default -> throw new BadQuestion("no type of OrderedBytes: " + type);
        };
    return HEX.formatHex(to.getBytes(), 0, length);
  }

  private static String decode(Arguments of) {
    String type = of.name(1);
    PositionedByteRange from = new SimplePositionedMutableByteRange(of.bytes(2));
    return switch (type) {
      case "Int8" -> "" + OrderedBytes.decodeInt8(from);
      case "Int16" -> "" + OrderedBytes.decodeInt16(from);
      case "Int32" -> "" + OrderedBytes.decodeInt32(from);
      case "Int64" -> "" + OrderedBytes.decodeInt64(from);
      case "Float32" -> hex(OrderedBytes.decodeFloat32(from));
      case "Float64" -> hex(OrderedBytes.decodeFloat64(from));
      case "String" -> hex(OrderedBytes.decodeString(from));
      case "BlobVar" -> hex(OrderedBytes.decodeBlobVar(from));
      default -> throw new BadQuestion("no type of OrderedBytes: " + type);
    };
  }

  // ---------------------------------------------------------------- plain Java

  private static String crc32(byte[] value) {
    CRC32 crc = new CRC32();
    crc.update(value);
    return "" + crc.getValue();
  }

  private static void plainJava() {
    call("Long.MAX_VALUE-", 1, of -> hex(Bytes.toBytes(Long.MAX_VALUE - of.int64(1))));
    call("Math.abs%", 2, of -> "" + Math.abs(of.int32(1) % of.int32(2)));
    call("Math.floorMod", 2, of -> "" + Math.floorMod(of.int64(1), of.int64(2)));
    call(
        "MessageDigest.digest",
        2,
        of -> hex(MessageDigest.getInstance(of.name(1)).digest(of.bytes(2))));
    call("CRC32.getValue", 1, of -> crc32(of.bytes(1)));
    call(
        "System.out.println",
        1,
        of -> {
          System.out.println(of.text(1));
          return "null";
        });
  }

  // ---------------------------------------------------------------- the loop

  private static String answer(String line) {
    String[] words = line.split("\t", -1);
    Call call = CALLS.get(words[0]);
    if (call == null) return "? no such question: " + words[0];
    try {
      return "= " + call.answer(new Arguments(words));
    } catch (BadQuestion e) {
      return "? " + words[0] + ": " + e.getMessage();
    } catch (LinkageError | OutOfMemoryError e) {
      return "? " + words[0] + ": " + e.toString().replace('\n', ' ');
    } catch (Throwable e) {
      return "! " + e.getClass().getSimpleName();
    }
  }

  public static void main(String[] none) throws IOException {
    BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8), 1 << 16);
    BufferedWriter out =
        new BufferedWriter(
            new OutputStreamWriter(
                new FileOutputStream(FileDescriptor.out), StandardCharsets.UTF_8),
            1 << 16);
    // A library that prints would otherwise stand in the middle of the answers.
    System.setOut(System.err);
    regionSplitter();
    bytes();
    call("OrderedBytes.encode", 3, Oracle::encode);
    call("OrderedBytes.decode", 2, Oracle::decode);
    plainJava();
    for (String line; (line = in.readLine()) != null; ) {
      out.write(answer(line));
      out.write('\n');
      // One question at a time is answered at once, thousands in a row are answered in blocks.
      if (!in.ready()) out.flush();
    }
  }
}
