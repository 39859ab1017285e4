package partita.clients;

import com.azure.core.http.rest.PagedIterable;
import com.azure.core.http.rest.PagedResponse;
import com.azure.data.tables.models.ListEntitiesOptions;
import com.azure.data.tables.models.TableEntity;
import java.util.ArrayList;
import java.util.List;

/** One page in this process, the rest in another. */
final class Pages {
  private Pages() {}

  static void first(Session session, String table) {
    PagedResponse<TableEntity> page = query(session, table).iterableByPage().iterator().next();
    Main.print("rows", rowsOf(page), "token", page.getContinuationToken());
  }

  static void rest(Session session, String table, String token) {
    List<String> rows = new ArrayList<>();
    query(session, table).iterableByPage(token).forEach(page -> rows.addAll(rowsOf(page)));
    Main.print("rows", rows);
  }

  private static PagedIterable<TableEntity> query(Session session, String table) {
    return session.service().getTableClient(table).listEntities(new ListEntitiesOptions().setTop(7), null, null);
  }

  private static List<String> rowsOf(PagedResponse<TableEntity> page) {
    return page.getValue().stream().map(TableEntity::getRowKey).toList();
  }
}
