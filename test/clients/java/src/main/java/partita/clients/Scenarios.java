package partita.clients;

import com.azure.core.credential.AzureNamedKeyCredential;
import com.azure.core.http.HttpPipelineCallContext;
import com.azure.core.http.policy.FixedDelayOptions;
import com.azure.core.http.policy.HttpPipelineSyncPolicy;
import com.azure.core.http.policy.RetryOptions;
import com.azure.core.http.rest.PagedIterable;
import com.azure.core.http.rest.PagedResponse;
import com.azure.data.tables.TableClient;
import com.azure.data.tables.TableClientBuilder;
import com.azure.data.tables.TableServiceClient;
import com.azure.data.tables.TableServiceClientBuilder;
import com.azure.data.tables.models.ListEntitiesOptions;
import com.azure.data.tables.models.ListTablesOptions;
import com.azure.data.tables.models.TableAccessPolicy;
import com.azure.data.tables.models.TableEntity;
import com.azure.data.tables.models.TableEntityUpdateMode;
import com.azure.data.tables.models.TableErrorCode;
import com.azure.data.tables.models.TableItem;
import com.azure.data.tables.models.TableServiceCorsRule;
import com.azure.data.tables.models.TableServiceGeoReplication;
import com.azure.data.tables.models.TableServiceGeoReplicationStatus;
import com.azure.data.tables.models.TableServiceLogging;
import com.azure.data.tables.models.TableServiceMetrics;
import com.azure.data.tables.models.TableServiceProperties;
import com.azure.data.tables.models.TableServiceRetentionPolicy;
import com.azure.data.tables.models.TableSignedIdentifier;
import com.azure.data.tables.models.TableTransactionAction;
import com.azure.data.tables.models.TableTransactionActionResponse;
import com.azure.data.tables.models.TableTransactionActionType;
import com.azure.data.tables.sas.TableSasPermission;
import com.azure.data.tables.sas.TableSasSignatureValues;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/** One method for each scenario, named as the scenario. */
final class Scenarios {
  /** The tag of an entity of the past. */
  private static final String STALE_ETAG = "W/\"datetime'2020-01-01T00%3A00%3A00.0000000Z'\"";

  private final Session session;

  /** Set by a scenario for what its client lacks, and nothing else. */
  private String gap;

  private record Scenario(String name, Runnable run) {}

  Scenarios(Session session) {
    this.session = session;
  }

  void run() {
    Stream.of(
            new Scenario("connect-connection-string", this::connectConnectionString),
            new Scenario("connect-account-key", this::connectAccountKey),
            new Scenario("connect-sas-url", this::connectSasUrl),
            new Scenario("tables", this::tables),
            new Scenario("types", this::types),
            new Scenario("insert-get", this::insertGet),
            new Scenario("merge", this::merge),
            new Scenario("replace", this::replace),
            new Scenario("upsert-merge", this::upsertMerge),
            new Scenario("upsert-replace", this::upsertReplace),
            new Scenario("delete", this::delete),
            new Scenario("etags", this::etags),
            new Scenario("select", this::select),
            new Scenario("filters", this::filters),
            new Scenario("paging", this::paging),
            new Scenario("group", this::group),
            new Scenario("group-failures", this::groupFailures),
            new Scenario("access-policies", this::accessPolicies),
            new Scenario("policy-sas", this::policySas),
            new Scenario("table-sas", this::tableSas),
            new Scenario("service-properties", this::serviceProperties),
            new Scenario("cors", this::cors),
            new Scenario("statistics", this::statistics),
            new Scenario("keys", this::keys),
            new Scenario("errors", this::errors),
            new Scenario("retries", this::retries))
        .forEach(this::report);
  }

  private void report(Scenario scenario) {
    gap = null;
    try {
      scenario.run.run();
      if (gap == null) {
        Main.print("scenario", scenario.name, "ok", true);
      } else {
        Main.print("scenario", scenario.name, "ok", true, "gap", gap);
      }
    } catch (RuntimeException | AssertionError failure) {
      failure.printStackTrace();
      Main.print("scenario", scenario.name, "ok", false, "error", failure.toString());
    }
  }

  private void connectConnectionString() {
    useTable(
        new TableServiceClientBuilder().connectionString(session.connectionString()).buildClient(),
        "viaConnectionString");
  }

  private void connectAccountKey() {
    var credential = new AzureNamedKeyCredential(session.account(), session.key());
    useTable(
        new TableServiceClientBuilder().endpoint(session.url()).credential(credential).buildClient(),
        "viaAccountKey");
  }

  private void connectSasUrl() {
    String[] parts = session.sasUrl().split("\\?", 2);
    useTable(new TableServiceClientBuilder().endpoint(parts[0]).sasToken(parts[1]).buildClient(), "viaSasUrl");
  }

  private void useTable(TableServiceClient service, String name) {
    TableClient table = service.createTable(session.prefix() + name);
    table.createEntity(new TableEntity("p", "r").addProperty("Name", "Ada"));
    Check.equal("Name", "Ada", table.getEntity("p", "r").getProperty("Name"));
    table.submitTransaction(List.of(action(TableTransactionActionType.CREATE, entity("grouped"))));
    Check.equal("rows", List.of("grouped", "r"), rowKeys(table.listEntities()));
    service.deleteTable(session.prefix() + name);
  }

  private void tables() {
    TableServiceClient service = session.service();
    String name = session.prefix() + "tables";
    ListTablesOptions byName = new ListTablesOptions().setFilter("TableName eq '%s'".formatted(name));
    Check.equal("name of the created table", name, service.createTableIfNotExists(name).getTableName());
    Check.equal(
        "status when it exists", 409, service.createTableIfNotExistsWithResponse(name, null, null).getStatusCode());
    Check.refused(409, TableErrorCode.TABLE_ALREADY_EXISTS, () -> service.createTable(name));
    Check.that("it is listed", tableNames(service.listTables()).contains(name));
    Check.equal("tables of that name", List.of(name), tableNames(service.listTables(byName, null, null)));
    service.deleteTable(name);
    Check.equal("tables of that name", List.of(), tableNames(service.listTables(byName, null, null)));
    // The client takes the 404 for success, and shows it.
    Check.equal(
        "status when the table is absent", 404, service.deleteTableWithResponse(name, null, null).getStatusCode());
  }

  private static List<String> tableNames(PagedIterable<TableItem> tables) {
    return tables.stream().map(TableItem::getName).toList();
  }

  private void types() {
    TableClient table = session.newTable("types");
    Map<String, Object> values =
        Map.of(
            "Binary", new byte[] {0, 1, -2, -1},
            "Boolean", true,
            "DateTime", OffsetDateTime.parse("2024-02-29T23:59:59.1234567Z"),
            "Double", 2.0,
            "Guid", UUID.fromString("c9da6455-213d-42c9-9a79-3e9149a57833"),
            "Int32", -7,
            "Int64", 9007199254740993L,
            "String", "Ærøskøbing 🎼");
    table.createEntity(new TableEntity("p", "r").setProperties(values));
    TableEntity got = table.getEntity("p", "r");
    TableEntity listed = table.listEntities().iterator().next();
    values.forEach(
        (name, value) -> {
          Check.equal(name, value, got.getProperty(name));
          Check.equal(name + " of the query", value, listed.getProperty(name));
        });
  }

  private void insertGet() {
    TableClient table = session.newTable("insertGet");
    OffsetDateTime before = OffsetDateTime.now().minusMinutes(1);
    table.createEntity(new TableEntity("p", "r").addProperty("Age", 36));
    TableEntity found = table.getEntity("p", "r");
    Check.equal("PartitionKey", "p", found.getPartitionKey());
    Check.equal("RowKey", "r", found.getRowKey());
    Check.equal("Age", 36, found.getProperty("Age"));
    Check.that("it has an ETag", found.getETag().startsWith("W/\"datetime'"));
    Check.that(
        "its timestamp is of now",
        found.getTimestamp().isAfter(before) && found.getTimestamp().isBefore(before.plusMinutes(2)));
    Check.refused(409, TableErrorCode.ENTITY_ALREADY_EXISTS, () -> table.createEntity(new TableEntity("p", "r")));
    Check.refused(404, TableErrorCode.RESOURCE_NOT_FOUND, () -> table.getEntity("p", "absent"));
  }

  private void merge() {
    TableClient table = session.newTable("merge");
    table.createEntity(new TableEntity("p", "r").addProperty("A", 1).addProperty("B", 2));
    table.updateEntity(
        new TableEntity("p", "r").addProperty("B", "two").addProperty("C", true), TableEntityUpdateMode.MERGE);
    Check.equal("properties", Map.of("A", 1, "B", "two", "C", true), own(table.getEntity("p", "r")));
    Check.refused(
        404,
        TableErrorCode.RESOURCE_NOT_FOUND,
        () -> table.updateEntity(new TableEntity("p", "absent"), TableEntityUpdateMode.MERGE));
  }

  private void replace() {
    TableClient table = session.newTable("replace");
    table.createEntity(new TableEntity("p", "r").addProperty("A", 1).addProperty("B", 2));
    table.updateEntity(new TableEntity("p", "r").addProperty("B", "two"), TableEntityUpdateMode.REPLACE);
    Check.equal("properties", Map.of("B", "two"), own(table.getEntity("p", "r")));
    Check.refused(
        404,
        TableErrorCode.RESOURCE_NOT_FOUND,
        () -> table.updateEntity(new TableEntity("p", "absent"), TableEntityUpdateMode.REPLACE));
  }

  private void upsertMerge() {
    TableClient table = session.newTable("upsertMerge");
    upsert(table, TableEntityUpdateMode.MERGE, "A", 1);
    Check.equal("inserted", Map.of("A", 1), own(table.getEntity("p", "r")));
    upsert(table, TableEntityUpdateMode.MERGE, "B", 2);
    Check.equal("merged", Map.of("A", 1, "B", 2), own(table.getEntity("p", "r")));
  }

  private void upsertReplace() {
    TableClient table = session.newTable("upsertReplace");
    upsert(table, TableEntityUpdateMode.REPLACE, "A", 1);
    Check.equal("inserted", Map.of("A", 1), own(table.getEntity("p", "r")));
    upsert(table, TableEntityUpdateMode.REPLACE, "B", 2);
    Check.equal("replaced", Map.of("B", 2), own(table.getEntity("p", "r")));
  }

  private static void upsert(TableClient table, TableEntityUpdateMode mode, String name, Object value) {
    table.upsertEntityWithResponse(new TableEntity("p", "r").addProperty(name, value), mode, null, null);
  }

  private void delete() {
    TableClient table = session.newTable("delete");
    table.createEntity(new TableEntity("p", "r"));
    table.deleteEntity("p", "r");
    Check.refused(404, TableErrorCode.RESOURCE_NOT_FOUND, () -> table.getEntity("p", "r"));
    // The client takes the 404 for success, and shows it.
    Check.equal(
        "status when the entity is absent",
        404,
        table.deleteEntityWithResponse(new TableEntity("p", "r"), false, null, null).getStatusCode());
  }

  private void etags() {
    TableClient table = session.newTable("etags");
    table.createEntity(new TableEntity("p", "r").addProperty("A", 1));
    TableEntity first = table.getEntity("p", "r");
    updateUnchanged(table, first, 2);
    Check.refused(412, TableErrorCode.UPDATE_CONDITION_NOT_SATISFIED, () -> updateUnchanged(table, first, 3));
    TableEntity second = table.getEntity("p", "r");
    Check.equal("A", 2, second.getProperty("A"));
    Check.that("the ETag changed with the entity", !first.getETag().equals(second.getETag()));
    table.updateEntity(first);
    Check.equal("A after an update whatever the ETag", 3, table.getEntity("p", "r").getProperty("A"));
    Check.refused(
        412,
        TableErrorCode.UPDATE_CONDITION_NOT_SATISFIED,
        () -> table.deleteEntityWithResponse(second, true, null, null));
    table.deleteEntityWithResponse(table.getEntity("p", "r"), true, null, null);
  }

  private static void updateUnchanged(TableClient table, TableEntity entity, int value) {
    table.updateEntityWithResponse(
        entity.addProperty("A", value), TableEntityUpdateMode.REPLACE, true, null, null);
  }

  private void select() {
    TableClient table = session.newTable("select");
    table.createEntity(new TableEntity("p", "r").addProperty("A", 1).addProperty("B", 2).addProperty("C", 3));
    List<String> names = List.of("RowKey", "A", "C");
    TableEntity got = table.getEntityWithResponse("p", "r", names, null, null).getValue();
    TableEntity listed =
        table.listEntities(new ListEntitiesOptions().setSelect(names), null, null).iterator().next();
    for (TableEntity found : List.of(got, listed)) {
      Check.equal("PartitionKey", null, found.getPartitionKey());
      Check.equal("RowKey", "r", found.getRowKey());
      Check.equal("properties", Map.of("A", 1, "C", 3), own(found));
    }
  }

  /** This client has no helper for filters: they are written out, and quotes doubled, by its user. */
  private void filters() {
    TableClient table = session.newTable("filters");
    String text = "it's “quoted” & more";
    table.createEntity(
        new TableEntity("p", "1")
            .addProperty("Binary", new byte[] {(byte) 0xca, (byte) 0xfe})
            .addProperty("Boolean", true)
            .addProperty("DateTime", OffsetDateTime.parse("2024-02-29T12:00:00.0000001Z"))
            .addProperty("Double", 2.5)
            .addProperty("Guid", UUID.fromString("c9da6455-213d-42c9-9a79-3e9149a57833"))
            .addProperty("Int32", 36)
            .addProperty("Int64", 9007199254740993L)
            .addProperty("String", text));
    table.createEntity(
        new TableEntity("p", "2")
            .addProperty("Binary", new byte[] {(byte) 0xca, (byte) 0xff})
            .addProperty("Boolean", false)
            .addProperty("DateTime", OffsetDateTime.parse("2024-02-29T12:00:00Z"))
            .addProperty("Double", -2.5)
            .addProperty("Guid", new UUID(0, 0))
            .addProperty("Int32", 37)
            .addProperty("Int64", 9007199254740992L)
            .addProperty("String", "its"));
    Map.ofEntries(
            Map.entry("PartitionKey eq 'p' and RowKey ge '2'", List.of("2")),
            Map.entry("Binary eq X'cafe'", List.of("1")),
            Map.entry("Boolean eq true", List.of("1")),
            Map.entry("DateTime gt datetime'2024-02-29T12:00:00Z'", List.of("1")),
            Map.entry("Double lt 0.0", List.of("2")),
            Map.entry("Guid eq guid'c9da6455-213d-42c9-9a79-3e9149a57833'", List.of("1")),
            Map.entry("Int32 le 36", List.of("1")),
            Map.entry("Int64 eq 9007199254740993L", List.of("1")),
            Map.entry("String eq '%s'".formatted(quoted(text)), List.of("1")),
            Map.entry("not (String eq 'its') and (Boolean eq false or Int32 ne 0)", List.of("1")),
            Map.entry("Int32 gt 0", List.of("1", "2")),
            Map.entry("RowKey eq ''''", List.<String>of()),
            Map.entry("Absent eq 'x'", List.<String>of()))
        .forEach((filter, rows) -> Check.equal("rows where " + filter, rows, rowsWhere(table, filter)));
  }

  private void paging() {
    TableClient table = session.newTable("paging");
    table.submitTransaction(
        IntStream.range(0, 25)
            .mapToObj(n -> action(TableTransactionActionType.CREATE, entity("%02d".formatted(n))))
            .toList());
    var options = new ListEntitiesOptions().setTop(10);
    List<PagedResponse<TableEntity>> pages =
        StreamSupport.stream(table.listEntities(options, null, null).iterableByPage().spliterator(), false).toList();
    Check.equal("sizes of the pages", List.of(10, 10, 5), pages.stream().map(page -> page.getValue().size()).toList());
    Check.equal(
        "rows",
        IntStream.range(0, 25).mapToObj("%02d"::formatted).toList(),
        pages.stream().flatMap(page -> page.getValue().stream()).map(TableEntity::getRowKey).toList());
    Check.equal("rows of an empty result", List.of(), rowsWhere(table, "PartitionKey eq 'absent'"));
  }

  private void group() {
    TableClient table = session.newTable("group");
    for (String row : List.of("merge", "replace", "upsertMerge", "delete")) {
      table.createEntity(entity(row).addProperty("A", 1));
    }
    List<TableTransactionAction> actions =
        List.of(
            action(TableTransactionActionType.CREATE, entity("create").addProperty("B", 2)),
            action(TableTransactionActionType.UPDATE_MERGE, entity("merge").addProperty("B", 2)),
            action(TableTransactionActionType.UPDATE_REPLACE, entity("replace").addProperty("B", 2)),
            action(TableTransactionActionType.UPSERT_MERGE, entity("upsertMerge").addProperty("B", 2)),
            action(TableTransactionActionType.UPSERT_REPLACE, entity("upsertReplace").addProperty("B", 2)),
            action(TableTransactionActionType.DELETE, entity("delete")));
    List<Integer> statuses =
        table.submitTransaction(actions).getTransactionActionResponses().stream()
            .map(TableTransactionActionResponse::getStatusCode)
            .toList();
    Check.equal("status of each action", List.of(204, 204, 204, 204, 204, 204), statuses);
    Map<String, Map<String, Object>> found = new TreeMap<>();
    table.listEntities().forEach(entity -> found.put(entity.getRowKey(), own(entity)));
    Map<String, Object> b = Map.of("B", 2);
    Map<String, Object> ab = Map.of("A", 1, "B", 2);
    Check.equal(
        "entities",
        Map.of("create", b, "merge", ab, "replace", b, "upsertMerge", ab, "upsertReplace", b),
        found);
  }

  private void groupFailures() {
    TableClient table = session.newTable("groupFailures");
    table.createEntity(entity("there"));
    TableTransactionAction create = action(TableTransactionActionType.CREATE, entity("new"));

    groupRefused(
        table,
        1,
        TableErrorCode.ENTITY_ALREADY_EXISTS,
        create,
        action(TableTransactionActionType.CREATE, entity("there")));
    groupRefused(
        table,
        2,
        TableErrorCode.RESOURCE_NOT_FOUND,
        create,
        action(TableTransactionActionType.CREATE, entity("newer")),
        action(TableTransactionActionType.UPDATE_MERGE, entity("absent")));
    TableEntity stale = entity("there").addProperty("odata.etag", STALE_ETAG);
    groupRefused(
        table,
        0,
        TableErrorCode.UPDATE_CONDITION_NOT_SATISFIED,
        new TableTransactionAction(TableTransactionActionType.UPDATE_REPLACE, stale, true),
        create);
    groupRefused(table, 1, TableErrorCode.INVALID_DUPLICATE_ROW, create, create);
    groupRefused(
        table,
        1,
        TableErrorCode.fromString("CommandsInBatchActOnDifferentPartitions"),
        create,
        action(TableTransactionActionType.CREATE, new TableEntity("other", "new")));
    groupRefused(
        table,
        99,
        TableErrorCode.INVALID_INPUT,
        IntStream.rangeClosed(0, 100)
            .mapToObj(n -> action(TableTransactionActionType.CREATE, entity("" + n)))
            .toArray(TableTransactionAction[]::new));
    Check.thrown(IllegalArgumentException.class, () -> table.submitTransaction(List.of()));

    Check.equal("rows after the failures", List.of("there"), rowKeys(table.listEntities()));
  }

  private static void groupRefused(
      TableClient table, int index, TableErrorCode code, TableTransactionAction... actions) {
    Check.groupRefused(index, code, () -> table.submitTransaction(Arrays.asList(actions)));
  }

  private void accessPolicies() {
    TableClient table = session.newTable("policies");
    Check.equal("policies of a new table", List.of(), policies(table));
    OffsetDateTime start = OffsetDateTime.parse("2024-01-02T03:04:05Z");
    table.setAccessPolicies(
        List.of(
            policy("readers", start, start.plusYears(10), "r"),
            policy("writers", start, start.plusYears(20), "raud")));
    Check.equal(
        "policies",
        List.of(
            "readers 2024-01-02T03:04:05Z 2034-01-02T03:04:05Z r",
            "writers 2024-01-02T03:04:05Z 2044-01-02T03:04:05Z raud"),
        policies(table));
    table.setAccessPolicies(List.of());
    Check.equal("policies that are left", List.of(), policies(table));
  }

  private static List<String> policies(TableClient table) {
    // The client has no list when there are no policies.
    List<TableSignedIdentifier> identifiers = table.getAccessPolicies().getIdentifiers();
    return identifiers == null ? List.of() : identifiers.stream().map(Scenarios::policyText).toList();
  }

  private static String policyText(TableSignedIdentifier identifier) {
    TableAccessPolicy policy = identifier.getAccessPolicy();
    return "%s %s %s %s"
        .formatted(identifier.getId(), policy.getStartsOn(), policy.getExpiresOn(), policy.getPermissions());
  }

  private static TableSignedIdentifier policy(
      String id, OffsetDateTime start, OffsetDateTime expiry, String permissions) {
    return new TableSignedIdentifier(id)
        .setAccessPolicy(
            new TableAccessPolicy().setStartsOn(start).setExpiresOn(expiry).setPermissions(permissions));
  }

  private void policySas() {
    TableClient table = session.newTable("policySas");
    table.createEntity(new TableEntity("p", "r").addProperty("A", 1));
    table.setAccessPolicies(List.of(policy("readers", hoursFromNow(-1), hoursFromNow(1), "r")));
    TableClient reader = signed(table, new TableSasSignatureValues("readers"));
    Check.equal("A", 1, reader.getEntity("p", "r").getProperty("A"));
    Check.refused(403, "AuthorizationPermissionMismatch", () -> reader.createEntity(entity("new")));
    table.setAccessPolicies(List.of());
    Check.refused(403, "AuthenticationFailed", () -> reader.getEntity("p", "r"));
  }

  private void tableSas() {
    TableClient table = session.newTable("tableSas");
    for (String row : List.of("1", "2", "3")) {
      table.createEntity(entity(row));
    }
    TableSasPermission read = new TableSasPermission().setReadPermission(true);
    TableClient reader =
        signed(
            table,
            new TableSasSignatureValues(hoursFromNow(1), read)
                .setStartTime(hoursFromNow(-1))
                .setStartPartitionKey("p")
                .setStartRowKey("2")
                .setEndPartitionKey("p")
                .setEndRowKey("2"));
    Check.equal("rows in the range", List.of("2"), rowKeys(reader.listEntities()));
    Check.equal("row in the range", "2", reader.getEntity("p", "2").getRowKey());
    Check.refused(404, TableErrorCode.RESOURCE_NOT_FOUND, () -> reader.getEntity("p", "1"));
    Check.refused(403, "AuthorizationPermissionMismatch", () -> reader.createEntity(entity("2")));
    TableClient expired = signed(table, new TableSasSignatureValues(hoursFromNow(-1), read));
    Check.refused(403, "AuthenticationFailed", () -> expired.getEntity("p", "2"));
  }

  private TableClient signed(TableClient table, TableSasSignatureValues values) {
    return new TableClientBuilder()
        .endpoint(session.url())
        .tableName(table.getTableName())
        .sasToken(table.generateSas(values))
        .buildClient();
  }

  private static OffsetDateTime hoursFromNow(int hours) {
    return OffsetDateTime.now(ZoneOffset.UTC).plusHours(hours).truncatedTo(ChronoUnit.SECONDS);
  }

  private void serviceProperties() {
    TableServiceClient service = session.service();
    TableServiceProperties before = service.getProperties();
    TableServiceRetentionPolicy keep = new TableServiceRetentionPolicy().setEnabled(true).setDaysToRetain(5);
    TableServiceRetentionPolicy drop = new TableServiceRetentionPolicy().setEnabled(false);
    service.setProperties(
        new TableServiceProperties()
            .setLogging(
                new TableServiceLogging()
                    .setAnalyticsVersion("1.0")
                    .setReadLogged(true)
                    .setWriteLogged(false)
                    .setDeleteLogged(true)
                    .setRetentionPolicy(keep))
            .setHourMetrics(
                new TableServiceMetrics()
                    .setVersion("1.0")
                    .setEnabled(true)
                    .setIncludeApis(true)
                    .setRetentionPolicy(keep))
            .setMinuteMetrics(
                new TableServiceMetrics().setVersion("1.0").setEnabled(false).setRetentionPolicy(drop)));
    TableServiceProperties found = service.getProperties();
    TableServiceLogging logging = found.getLogging();
    Check.equal("version of logging", "1.0", logging.getAnalyticsVersion());
    Check.equal(
        "what is logged",
        List.of(true, false, true),
        List.of(logging.isReadLogged(), logging.isWriteLogged(), logging.isDeleteLogged()));
    Check.equal("days of logging", 5, logging.getRetentionPolicy().getDaysToRetain());
    Check.equal("hour metrics", true, found.getHourMetrics().isEnabled());
    Check.equal("operations in hour metrics", true, found.getHourMetrics().isIncludeApis());
    Check.equal(
        "days of hour metrics", 5, found.getHourMetrics().getTableServiceRetentionPolicy().getDaysToRetain());
    Check.equal("minute metrics", false, found.getMinuteMetrics().isEnabled());
    service.setProperties(before);
    Check.equal(
        "logging restored", before.getLogging().isReadLogged(), service.getProperties().getLogging().isReadLogged());
  }

  private void cors() {
    session
        .service()
        .setProperties(
            new TableServiceProperties()
                .setCorsRules(
                    List.of(
                        new TableServiceCorsRule()
                            .setAllowedOrigins("https://example.org")
                            .setAllowedMethods("GET,PUT")
                            .setAllowedHeaders("x-ms-*")
                            .setExposedHeaders("x-ms-request-id")
                            .setMaxAgeInSeconds(60))));
    List<TableServiceCorsRule> rules = session.service().getProperties().getCorsRules();
    Check.equal("number of rules", 1, rules.size());
    Check.equal("origins", "https://example.org", rules.get(0).getAllowedOrigins());
    Check.equal("methods", "GET,PUT", rules.get(0).getAllowedMethods());
    Check.equal("headers", "x-ms-*", rules.get(0).getAllowedHeaders());
    Check.equal("exposed headers", "x-ms-request-id", rules.get(0).getExposedHeaders());
    Check.equal("seconds", 60, rules.get(0).getMaxAgeInSeconds());

    HttpResponse<Void> allowed = preflight("https://example.org");
    HttpHeaders headers = allowed.headers();
    Check.equal("status of the preflight", 200, allowed.statusCode());
    Check.equal("origin", List.of("https://example.org"), headers.allValues("Access-Control-Allow-Origin"));
    Check.equal("seconds", List.of("60"), headers.allValues("Access-Control-Max-Age"));
    Check.equal("status for a stranger", 403, preflight("https://example.com").statusCode());
  }

  private void statistics() {
    // The user of this client forms the secondary address.
    TableServiceGeoReplication replication =
        session.at(session.url() + "-secondary").buildClient().getStatistics().getGeoReplication();
    Check.equal("status", TableServiceGeoReplicationStatus.LIVE, replication.getStatus());
    Duration age = Duration.between(replication.getLastSyncTime(), OffsetDateTime.now());
    Check.that("it is of now, not %s ago".formatted(age), age.abs().compareTo(Duration.ofMinutes(1)) < 0);
  }

  private void keys() {
    TableClient table = session.newTable("keys");
    for (String key :
        List.of(
            "it's", "''", "a b", "100%", "%41", "a&b", "a+b", "a=b", "a;b", "a@b", "~", "(a)", "a,b", "$", ":", "漢字",
            "🎼", "")) {
      table.createEntity(new TableEntity(key, key).addProperty("A", 1));
      TableEntity found = table.getEntity(key, key);
      Check.equal("PartitionKey", key, found.getPartitionKey());
      Check.equal("RowKey", key, found.getRowKey());
      String filter = "PartitionKey eq '%1$s' and RowKey eq '%1$s'".formatted(quoted(key));
      Check.equal("rows", List.of(key), rowsWhere(table, filter));
      table.updateEntity(new TableEntity(key, key).addProperty("A", 2));
      Check.equal("A", 2, table.getEntity(key, key).getProperty("A"));
      table.deleteEntity(key, key);
      Check.refused(404, TableErrorCode.RESOURCE_NOT_FOUND, () -> table.getEntity(key, key));
    }
  }

  private void errors() {
    TableServiceClient service = session.service();
    TableClient table = session.newTable("errors");
    TableClient absent = service.getTableClient(session.prefix() + "absent");
    Check.refused(404, TableErrorCode.TABLE_NOT_FOUND, () -> absent.createEntity(entity("r")));
    Check.refused(404, TableErrorCode.TABLE_NOT_FOUND, () -> absent.getEntity("p", "r"));
    Check.refused(409, TableErrorCode.TABLE_ALREADY_EXISTS, table::createTable);
    Check.refused(400, "InvalidResourceName", () -> service.createTable("not-a-name"));
    table.createEntity(entity("r"));
    TableEntity stale = entity("r").addProperty("odata.etag", STALE_ETAG);
    Check.refused(
        412,
        TableErrorCode.UPDATE_CONDITION_NOT_SATISFIED,
        () -> table.deleteEntityWithResponse(stale, true, null, null));

    String text = "x".repeat(32768);
    Check.refused(
        400,
        TableErrorCode.PROPERTY_VALUE_TOO_LARGE,
        () -> table.createEntity(entity("long").addProperty("A", text + "x")));
    Check.refused(
        400,
        TableErrorCode.PROPERTY_VALUE_TOO_LARGE,
        () -> table.createEntity(entity("binary").addProperty("A", new byte[65537])));
    TableEntity large = entity("large");
    IntStream.range(0, 17).forEach(n -> large.addProperty("A" + n, text));
    Check.refused(400, TableErrorCode.ENTITY_TOO_LARGE, () -> table.createEntity(large));
    Check.refused(
        413,
        "RequestBodyTooLarge",
        () -> table.createEntity(entity("huge").addProperty("A", "x".repeat(5 << 20))));
    gap = "a refused query throws HttpResponseException, which has the status but not the code";
    Check.refused(400, () -> rowsWhere(table, "A eq"));
  }

  private void retries() {
    session.newTable("retries");
    AtomicInteger attempts = new AtomicInteger();
    TableClient flaky =
        session
            .at(session.flakyUrl())
            .retryOptions(new RetryOptions(new FixedDelayOptions(3, Duration.ofMillis(10))))
            .addPolicy(
                new HttpPipelineSyncPolicy() {
                  @Override
                  protected void beforeSendingRequest(HttpPipelineCallContext context) {
                    attempts.incrementAndGet();
                  }
                })
            .buildClient()
            .getTableClient(session.prefix() + "retries");
    flaky.createEntity(entity("r").addProperty("A", 1));
    Check.equal("A", 1, flaky.getEntity("p", "r").getProperty("A"));
    Check.equal("rows", List.of("r"), rowKeys(flaky.listEntities()));
    Check.equal("attempts for three calls", 6, attempts.get());
  }

  private static TableEntity entity(String row) {
    return new TableEntity("p", row);
  }

  private static TableTransactionAction action(TableTransactionActionType type, TableEntity entity) {
    return new TableTransactionAction(type, entity);
  }

  /** The properties its user gave it. */
  private static Map<String, Object> own(TableEntity entity) {
    Map<String, Object> own = new TreeMap<>(entity.getProperties());
    own.keySet()
        .removeIf(name -> name.contains("odata.") || List.of("PartitionKey", "RowKey", "Timestamp").contains(name));
    return own;
  }

  private static List<String> rowsWhere(TableClient table, String filter) {
    return rowKeys(table.listEntities(new ListEntitiesOptions().setFilter(filter), null, null));
  }

  private static List<String> rowKeys(PagedIterable<TableEntity> entities) {
    return entities.stream().map(TableEntity::getRowKey).toList();
  }

  private static String quoted(String text) {
    return text.replace("'", "''");
  }

  private HttpResponse<Void> preflight(String origin) {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(session.url() + "/people"))
            .method("OPTIONS", BodyPublishers.noBody())
            .header("Origin", origin)
            .header("Access-Control-Request-Method", "PUT")
            .header("Access-Control-Request-Headers", "x-ms-version")
            .build();
    try {
      return HttpClient.newHttpClient().send(request, BodyHandlers.discarding());
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    } catch (InterruptedException interruption) {
      throw new IllegalStateException(interruption);
    }
  }
}
