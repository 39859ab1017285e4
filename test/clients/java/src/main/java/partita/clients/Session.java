package partita.clients;

import com.azure.core.credential.AzureNamedKeyCredential;
import com.azure.data.tables.TableClient;
import com.azure.data.tables.TableServiceClient;
import com.azure.data.tables.TableServiceClientBuilder;

/** What the runner gives, and the client that most scenarios use. */
record Session(
    String url,
    String account,
    String key,
    String connectionString,
    String sasUrl,
    String flakyUrl,
    String prefix,
    String values,
    TableServiceClient service) {

  static Session fromEnvironment() {
    String url = System.getenv("TABLES_URL");
    String account = System.getenv("TABLES_ACCOUNT");
    String key = System.getenv("TABLES_KEY");
    return new Session(
        url,
        account,
        key,
        System.getenv("TABLES_CONNECTION_STRING"),
        System.getenv("TABLES_SAS_URL"),
        System.getenv("TABLES_FLAKY_URL"),
        System.getenv("TABLES_PREFIX"),
        System.getenv("TABLES_VALUES"),
        withKey(url, account, key).buildClient());
  }

  /** A builder for this account at another address. */
  TableServiceClientBuilder at(String otherUrl) {
    return withKey(otherUrl, account, key);
  }

  /** Creates a table of this program's own. */
  TableClient newTable(String name) {
    return service.createTable(prefix + name);
  }

  private static TableServiceClientBuilder withKey(String url, String account, String key) {
    return new TableServiceClientBuilder()
        .endpoint(url)
        .credential(new AzureNamedKeyCredential(account, key));
  }
}
