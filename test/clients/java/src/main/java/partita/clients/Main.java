package partita.clients;

import com.azure.core.util.BinaryData;
import com.azure.core.util.CoreUtils;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The program of the client matrix for azure-data-tables. What it is told and prints is in ../README.md. */
public final class Main {
  // Standard output has the machine's character set, whatever that is; the contract has UTF-8.
  private static final PrintStream OUT = new PrintStream(System.out, true, StandardCharsets.UTF_8);

  public static void main(String[] args) {
    Session session = Session.fromEnvironment();
    switch (args.length == 0 ? "" : args[0]) {
      case "scenarios" -> scenarios(session);
      case "write-values" -> Values.write(session, args[1], args[2]);
      case "read-values" -> Values.read(session, args[1], args[2]);
      case "page-first" -> Pages.first(session, args[1]);
      case "page-rest" -> Pages.rest(session, args[1], args[2]);
      default -> throw new IllegalArgumentException("not a command: " + List.of(args));
    }
    // Threads of the HTTP client would keep the process alive for a while.
    System.exit(0);
  }

  private static void scenarios(Session session) {
    String version = CoreUtils.getProperties("azure-data-tables.properties").getOrDefault("version", "unknown");
    print("client", "azure-data-tables", "version", version, "runtime", "Java " + Runtime.version().feature());
    new Scenarios(session).run();
  }

  /** Writes one line of the contract, given as names and values in turn. */
  static void print(Object... namesAndValues) {
    Map<String, Object> line = new LinkedHashMap<>();
    for (int i = 0; i < namesAndValues.length; i += 2) {
      line.put((String) namesAndValues[i], namesAndValues[i + 1]);
    }
    OUT.println(BinaryData.fromObject(line));
  }
}
