package partita.clients;

import com.azure.core.exception.HttpResponseException;
import com.azure.data.tables.models.TableErrorCode;
import com.azure.data.tables.models.TableServiceException;
import com.azure.data.tables.models.TableTransactionFailedException;
import java.util.Arrays;
import java.util.Objects;

/** Checks that end a scenario when they fail. */
final class Check {
  private Check() {}

  static void equal(String what, Object wanted, Object found) {
    if (!Objects.deepEquals(wanted, found)) {
      throw new AssertionError("%s is %s instead of %s".formatted(what, shown(found), shown(wanted)));
    }
  }

  static void that(String what, boolean holds) {
    if (!holds) {
      throw new AssertionError("not so: " + what);
    }
  }

  /** The service answers with this status and code. */
  static void refused(int status, TableErrorCode code, Runnable call) {
    TableServiceException refusal = thrown(TableServiceException.class, call);
    equal("status", status, refusal.getResponse().getStatusCode());
    equal("code", code, refusal.getValue().getErrorCode());
  }

  static void refused(int status, String code, Runnable call) {
    refused(status, TableErrorCode.fromString(code), call);
  }

  /** The service answers with this status; what listing throws does not give the code. */
  static void refused(int status, Runnable call) {
    equal("status", status, thrown(HttpResponseException.class, call).getResponse().getStatusCode());
  }

  /** The group is refused because of the action at this place. The exception has no response to take a status from. */
  static void groupRefused(int index, TableErrorCode code, Runnable call) {
    TableTransactionFailedException refusal = thrown(TableTransactionFailedException.class, call);
    equal("code", code, refusal.getValue().getErrorCode());
    equal("index of the failed action", index, refusal.getFailedTransactionActionIndex());
  }

  static <T extends Throwable> T thrown(Class<T> type, Runnable call) {
    try {
      call.run();
    } catch (Throwable thrown) {
      if (type.isInstance(thrown)) {
        return type.cast(thrown);
      }
      throw thrown;
    }
    throw new AssertionError("nothing was thrown where %s was expected".formatted(type.getSimpleName()));
  }

  private static String shown(Object value) {
    return value instanceof byte[] bytes ? Arrays.toString(bytes) : String.valueOf(value);
  }
}
