import de.bwaldvogel.mongo.MongoBackend;
import de.bwaldvogel.mongo.MongoServer;
import de.bwaldvogel.mongo.MongoVersion;
import de.bwaldvogel.mongo.backend.memory.MemoryBackend;
import java.util.List;

/**
 * A server of MongoDB's wire protocol for tests, all in memory. Argument: the port, 0 for any free one. Prints the
 * port when it listens and ends when its standard input closes, so that it never outlives what started it.
 */
public class MongoTestServer {
  public static void main(String[] arguments) throws Exception {
    MongoBackend backend = new MemoryBackend();
    // The library reports wire version 8; drivers of today ask for 9 or more.
    backend.version(new MongoVersion() {
      public List<Integer> getVersionArray() {
        return List.of(5, 0, 0);
      }

      public int getWireVersion() {
        return 13;
      }
    });
    MongoServer server = new MongoServer(backend);
    server.bind("127.0.0.1", Integer.parseInt(arguments[0]));
    System.out.println(server.getLocalAddress().getPort());
    while (System.in.read() >= 0) {
      // Nothing is expected but the end.
    }
    server.shutdownNow();
    System.exit(0);
  }
}
