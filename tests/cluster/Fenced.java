// Files of this machine, with the fence that HDFS has: a write-ahead log that was moved away takes
// no more writes. The master moves the logs of a server that it gave up, and reads them; without a
// fence such a server, if it only stood still, goes on to acknowledge writes that nobody reads.

import java.io.File;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.attribute.PosixFilePermissions;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.StreamCapabilities;
import org.apache.hadoop.fs.Syncable;
import org.apache.hadoop.fs.permission.FsPermission;

public final class Fenced extends RawLocalFileSystem {
  private static final String LOGS = "/WALs/";

  @Override
  protected OutputStream createOutputStream(Path path, boolean append) throws IOException {
    return fenced(path, super.createOutputStream(path, append));
  }

  @Override
  protected OutputStream createOutputStreamWithMode(Path path, boolean append, FsPermission mode)
      throws IOException {
    return fenced(path, super.createOutputStreamWithMode(path, append, mode));
  }

  /** Hadoop starts a process, chmod, for each file and directory: a third of the servers' work. */
  @Override
  public void setPermission(Path path, FsPermission mode) throws IOException {
    String symbols =
        mode.getUserAction().SYMBOL + mode.getGroupAction().SYMBOL + mode.getOtherAction().SYMBOL;
    Files.setPosixFilePermissions(
        pathToFile(path).toPath(), PosixFilePermissions.fromString(symbols));
  }

  private OutputStream fenced(Path path, OutputStream out) {
    return path.toString().contains(LOGS) ? new Log(pathToFile(path), out) : out;
  }

  /** What is synced is read by whoever moves the file, for it was there after the sync. */
  private static final class Log extends FilterOutputStream
      implements Syncable, StreamCapabilities {
    private final File file;

    Log(File file, OutputStream out) {
      super(out);
      this.file = file;
    }

    @Override
    public void write(byte[] bytes, int from, int length) throws IOException {
      out.write(bytes, from, length); // The class above would write byte by byte.
    }

    @Override
    public void hflush() throws IOException {
      ((Syncable) out).hflush();
      stillThere();
    }

    @Override
    public void hsync() throws IOException {
      ((Syncable) out).hsync();
      stillThere();
    }

    @Override
    public boolean hasCapability(String name) {
      return ((StreamCapabilities) out).hasCapability(name);
    }

    private void stillThere() throws IOException {
      if (!file.exists()) {
        throw new IOException(file + " was moved away: the server that writes it was given up");
      }
    }
  }
}
