package partita.clients;

import com.azure.core.util.BinaryData;
import com.azure.core.util.serializer.TypeReference;
import com.azure.data.tables.TableClient;
import com.azure.data.tables.models.ListEntitiesOptions;
import com.azure.data.tables.models.TableEntity;
import java.nio.file.Path;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/** The values that all clients write and read. */
final class Values {
  private static final DateTimeFormatter CANONICAL_DATE =
      DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSSSSSS'Z'");

  private Values() {}

  static void write(Session session, String tableName, String client) {
    TableClient table = session.service().getTableClient(tableName);
    List<Map<String, Object>> values =
        BinaryData.fromFile(Path.of(session.values())).toObject(new TypeReference<>() {});
    for (Map<String, Object> value : values) {
      String name = (String) value.get("name");
      table.createEntity(entity(client, name, (String) value.get("type"), textOf(value)));
      Main.print("wrote", name);
    }
  }

  static void read(Session session, String tableName, String writer) {
    var ofWriter = new ListEntitiesOptions().setFilter("PartitionKey eq '%s'".formatted(writer.replace("'", "''")));
    for (TableEntity entity : session.service().getTableClient(tableName).listEntities(ofWriter, null, null)) {
      Presented value = present(entity.getProperty("Value"));
      Main.print("read", entity.getRowKey(), "type", value.type, "text", value.text);
    }
  }

  private static String textOf(Map<String, Object> value) {
    if (value.get("repeat") instanceof List<?> repeat) {
      return ((String) repeat.get(0)).repeat((Integer) repeat.get(1));
    }
    return (String) value.get("text");
  }

  private static TableEntity entity(String partition, String row, String type, String text) {
    TableEntity entity = new TableEntity(partition, row);
    switch (type) {
      case "Edm.Boolean" -> entity.addProperty("Value", Boolean.valueOf(text));
      case "Edm.Int32" -> entity.addProperty("Value", Integer.valueOf(text));
      case "Edm.Int64" -> entity.addProperty("Value", Long.valueOf(text));
      // Without their type those that are no numbers would be stored as text.
      case "Edm.Double" -> entity.addProperty("Value", doubleOf(text)).addProperty("Value@odata.type", type);
      case "Edm.String" -> entity.addProperty("Value", text);
      case "Edm.Guid" -> entity.addProperty("Value", UUID.fromString(text));
      case "Edm.DateTime" -> entity.addProperty("Value", OffsetDateTime.parse(text));
      case "Edm.Binary" -> entity.addProperty("Value", HexFormat.of().parseHex(text));
      default -> throw new IllegalArgumentException("not a type: " + type);
    }
    return entity;
  }

  private static double doubleOf(String text) {
    return switch (text) {
      case "INF" -> Double.POSITIVE_INFINITY;
      case "-INF" -> Double.NEGATIVE_INFINITY;
      default -> Double.parseDouble(text);
    };
  }

  private record Presented(String type, String text) {}

  private static Presented present(Object value) {
    if (value instanceof Boolean) {
      return new Presented("Edm.Boolean", value.toString());
    } else if (value instanceof Integer) {
      return new Presented("Edm.Int32", value.toString());
    } else if (value instanceof Long) {
      return new Presented("Edm.Int64", value.toString());
    } else if (value instanceof Double number) {
      return new Presented("Edm.Double", number.isInfinite() ? (number > 0 ? "INF" : "-INF") : number.toString());
    } else if (value instanceof String text) {
      return new Presented("Edm.String", text);
    } else if (value instanceof UUID) {
      return new Presented("Edm.Guid", value.toString());
    } else if (value instanceof OffsetDateTime date) {
      return new Presented("Edm.DateTime", CANONICAL_DATE.format(date.withOffsetSameInstant(ZoneOffset.UTC)));
    } else if (value instanceof byte[] bytes) {
      return new Presented("Edm.Binary", HexFormat.of().formatHex(bytes));
    }
    throw new IllegalArgumentException("not a type of this client: " + value.getClass());
  }
}
