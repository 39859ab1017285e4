"""The scenarios, as a user of azure-data-tables would write them."""

import urllib.error
import urllib.request
from datetime import datetime, timedelta, timezone
from urllib.parse import urlsplit
from uuid import UUID

from azure.core import MatchConditions
from azure.core.credentials import AzureSasCredential
from azure.core.exceptions import (
    ClientAuthenticationError,
    HttpResponseError,
    ResourceExistsError,
    ResourceModifiedError,
    ResourceNotFoundError,
)
from azure.data.tables import (
    EdmType,
    EntityProperty,
    RequestTooLargeError,
    TableAccessPolicy,
    TableAnalyticsLogging,
    TableCorsRule,
    TableMetrics,
    TableRetentionPolicy,
    TableSasPermissions,
    TableTransactionError,
    UpdateMode,
    generate_table_sas,
)

HOUR = timedelta(hours=1)
STALE = "W/\"datetime'2020-01-01T00%3A00%3A00Z'\""

# Keys that are legal and easy to spoil on their way.
UNUSUAL_KEYS = [
    "it's", "''", "'", "a b", " ", "100%", "%27", "a&b", "a+b", "a=b", "a;b", "a@b", "a~b", "(a,b)",
    "a:b,c$d!e*f", '"quoted"', "<a>", "naïve", "漢字", "🎼", "",
]  # fmt: skip


def scenarios_of(clients):
    """The scenarios by their names, for one form of the client. Each returns what the client lacks, if anything."""
    scenarios = Scenarios(clients)
    names = [name for name in vars(Scenarios) if not name.startswith("_")]
    return {name.replace("_", "-"): getattr(scenarios, name) for name in names}


class Scenarios:
    def __init__(self, clients):
        self._clients = clients
        self._service = clients.service()

    def connect_connection_string(self):
        prove(self._clients.table_of_connection_string(f"{self._clients.prefix}string"))

    def connect_account_key(self):
        prove(self._clients.table(f"{self._clients.prefix}key"))

    def connect_sas_url(self):
        prove(
            self._clients.table_of_url(self._clients.sas_url, f"{self._clients.prefix}sas"), with_group=False
        )
        signature = AzureSasCredential(self._clients.sas_url.partition("?")[2])
        prove(self._clients.table(f"{self._clients.prefix}sascredential", credential=signature))
        return "a group leaves out a signature that is part of the address; one given as a credential is sent"

    def tables(self):
        name = f"{self._clients.prefix}tables"
        self._service.create_table(name)
        self._service.create_table_if_not_exists(name)
        refused(ResourceExistsError, 409, "TableAlreadyExists", lambda: self._service.create_table(name))
        assert name in [table.name for table in self._service.list_tables()]
        by_name = lambda: self._service.query_tables("TableName eq @name", parameters={"name": name})
        equal([table.name for table in by_name()], [name])
        self._service.delete_table(name)
        # Deleting what is absent is no error to this client.
        self._service.delete_table(name)
        equal(list(by_name()), [])

    def types(self):
        table = self._new_table("types")
        properties = {
            "text": "text",
            "yes": True,
            "int32": 42,
            "int64": EntityProperty(9_007_199_254_740_993, EdmType.INT64),
            "double": 1.5,
            "whole": 3.0,
            "date": datetime(2024, 2, 29, 23, 59, 59, 123456, timezone.utc),
            "bytes": bytes([0, 127, 255]),
            "guid": UUID("c9da6455-213d-42c9-9a79-3e9149a57833"),
        }
        table.create_entity({"PartitionKey": "p", "RowKey": "r", **properties})
        found = plain(table.get_entity("p", "r"))
        equal(found, properties)
        equal({name: type(value) for name, value in found.items() if name != "date"},
              {name: type(value) for name, value in properties.items() if name != "date"})  # fmt: skip

    def insert_get(self):
        table = self._new_table("insertget")
        metadata = table.create_entity({"PartitionKey": "p", "RowKey": "r", "a": 1})
        found = table.get_entity("p", "r")
        equal(plain(found), {"a": 1})
        equal(found.metadata["etag"], metadata["etag"])
        assert abs(found.metadata["timestamp"] - datetime.now(timezone.utc)) < HOUR
        again = lambda: table.create_entity({"PartitionKey": "p", "RowKey": "r"})
        refused(ResourceExistsError, 409, "EntityAlreadyExists", again)
        refused(ResourceNotFoundError, 404, "ResourceNotFound", lambda: table.get_entity("p", "absent"))
        return "errors of create_entity have no error_code; it is in their response"

    def merge(self):
        table = self._table_with_entity("merge")
        table.update_entity({"PartitionKey": "p", "RowKey": "r", "b": 3, "c": 4}, UpdateMode.MERGE)
        equal(plain(table.get_entity("p", "r")), {"a": 1, "b": 3, "c": 4})
        absent = lambda: table.update_entity({"PartitionKey": "p", "RowKey": "absent"}, UpdateMode.MERGE)
        refused(ResourceNotFoundError, 404, "ResourceNotFound", absent)

    def replace(self):
        table = self._table_with_entity("replace")
        table.update_entity({"PartitionKey": "p", "RowKey": "r", "c": 4}, UpdateMode.REPLACE)
        equal(plain(table.get_entity("p", "r")), {"c": 4})
        absent = lambda: table.update_entity({"PartitionKey": "p", "RowKey": "absent"}, UpdateMode.REPLACE)
        refused(ResourceNotFoundError, 404, "ResourceNotFound", absent)

    def upsert_merge(self):
        table = self._new_table("upsertmerge")
        table.upsert_entity({"PartitionKey": "p", "RowKey": "r", "a": 1, "b": 2}, UpdateMode.MERGE)
        table.upsert_entity({"PartitionKey": "p", "RowKey": "r", "b": 3}, UpdateMode.MERGE)
        equal(plain(table.get_entity("p", "r")), {"a": 1, "b": 3})

    def upsert_replace(self):
        table = self._new_table("upsertreplace")
        table.upsert_entity({"PartitionKey": "p", "RowKey": "r", "a": 1, "b": 2}, UpdateMode.REPLACE)
        table.upsert_entity({"PartitionKey": "p", "RowKey": "r", "b": 3}, UpdateMode.REPLACE)
        equal(plain(table.get_entity("p", "r")), {"b": 3})

    def delete(self):
        table = self._table_with_entity("delete")
        table.delete_entity("p", "r")
        refused(ResourceNotFoundError, 404, "ResourceNotFound", lambda: table.get_entity("p", "r"))
        # Deleting what is absent is no error to this client.
        table.delete_entity("p", "r")

    def etags(self):
        table = self._new_table("etags")
        first = table.create_entity({"PartitionKey": "p", "RowKey": "r", "a": 1})["etag"]
        entity = {"PartitionKey": "p", "RowKey": "r", "a": 2}
        only = lambda etag: {"etag": etag, "match_condition": MatchConditions.IfNotModified}
        second = table.update_entity(entity, UpdateMode.REPLACE, **only(first))["etag"]
        assert second != first
        for stale in [
            lambda: table.update_entity(entity, UpdateMode.REPLACE, **only(first)),
            lambda: table.update_entity(entity, UpdateMode.MERGE, **only(first)),
            lambda: table.delete_entity("p", "r", **only(first)),
        ]:
            refused(ResourceModifiedError, 412, "UpdateConditionNotSatisfied", stale)
        table.update_entity(entity, UpdateMode.MERGE, match_condition=MatchConditions.Unconditionally)
        table.delete_entity(table.get_entity("p", "r"), match_condition=MatchConditions.IfNotModified)
        refused(ResourceNotFoundError, 404, "ResourceNotFound", lambda: table.get_entity("p", "r"))

    def select(self):
        table = self._table_with_entity("select")
        equal(dict(table.get_entity("p", "r", select=["RowKey", "b"])), {"RowKey": "r", "b": 2})
        equal([dict(row) for row in table.list_entities(select=["RowKey", "b"])], [{"RowKey": "r", "b": 2}])

    def filters(self):
        table = self._new_table("filters")
        values = {
            "text": "o'clock & 50%",
            "yes": True,
            "int32": 5,
            "int64": EntityProperty(5_000_000_000, EdmType.INT64),
            "double": 2.5,
            "date": datetime(2024, 2, 29, tzinfo=timezone.utc),
            "bytes": b"\x01\x02",
            "guid": UUID("c9da6455-213d-42c9-9a79-3e9149a57833"),
        }
        table.create_entity({"PartitionKey": "it's", "RowKey": "match", **values})
        table.create_entity({"PartitionKey": "other", "RowKey": "none", "text": "x", "int32": -1})
        parameters = {**values, "partition": "it's", "int64": 5_000_000_000, "low": 4, "x": "x"}
        for query in [
            "PartitionKey eq @partition",
            "text eq @text",
            "yes eq @yes",
            "int32 gt @low and int32 le @int32",
            "int64 eq @int64",
            "double le @double",
            "date ge @date",
            "bytes eq @bytes",
            "guid eq @guid",
            "not ( text eq @x ) and ( RowKey eq 'match' or int32 eq @low )",
        ]:
            rows = table.query_entities(query, parameters=parameters)
            equal([row["RowKey"] for row in rows], ["match"], query)
        refused(HttpResponseError, 400, "InvalidInput", lambda: list(table.query_entities("int32 eq")))

    def paging(self):
        table = self._new_table("paging")
        equal(list(table.list_entities()), [])
        rows = [f"r{n:03}" for n in range(25)]
        table.submit_transaction([("create", {"PartitionKey": "p", "RowKey": row}) for row in rows])
        pages = table.list_entities(results_per_page=10).by_page()
        found = [[entity["RowKey"] for entity in page] for page in pages]
        equal(found, [rows[:10], rows[10:20], rows[20:]])
        equal([entity["RowKey"] for entity in table.list_entities()], rows)

    def group(self):
        table = self._new_table("group")
        for row in ["merged", "replaced", "deleted"]:
            table.create_entity({"PartitionKey": "p", "RowKey": row, "a": 1})
        entity = lambda row, **properties: {"PartitionKey": "p", "RowKey": row, **properties}
        answers = table.submit_transaction(
            [
                ("create", entity("created", a=1)),
                ("update", entity("merged", b=2), {"mode": UpdateMode.MERGE}),
                ("update", entity("replaced", b=2), {"mode": UpdateMode.REPLACE}),
                ("upsert", entity("upserted", b=2), {"mode": UpdateMode.MERGE}),
                ("upsert", entity("it's new", b=2), {"mode": UpdateMode.REPLACE}),
                ("delete", entity("deleted")),
            ]
        )
        equal(len(answers), 6)
        assert answers[0]["etag"].startswith("W/\"datetime'")
        equal(
            {row["RowKey"]: plain(row) for row in table.list_entities()},
            {
                "created": {"a": 1},
                "it's new": {"b": 2},
                "merged": {"a": 1, "b": 2},
                "replaced": {"b": 2},
                "upserted": {"b": 2},
            },
        )

    def group_failures(self):
        table = self._new_table("groupfailures")
        table.create_entity({"PartitionKey": "p", "RowKey": "there"})
        entity = lambda row, partition="p": {"PartitionKey": partition, "RowKey": row}
        fine = ("create", entity("fine"))
        stale = {"mode": UpdateMode.REPLACE, "etag": STALE, "match_condition": MatchConditions.IfNotModified}
        for operation, status, code in [
            (("create", entity("there")), 409, "EntityAlreadyExists"),
            (("update", entity("absent")), 404, "ResourceNotFound"),
            (("update", entity("there"), stale), 412, "UpdateConditionNotSatisfied"),
            (fine, 400, "InvalidDuplicateRow"),
        ]:
            group = [fine, operation]
            error = refused(TableTransactionError, status, code, lambda: table.submit_transaction(group))
            equal(error.index, 1)
        many = [("create", entity(str(n))) for n in range(101)]
        error = refused(TableTransactionError, 400, "InvalidInput", lambda: table.submit_transaction(many))
        equal(error.index, 99)
        try:
            table.submit_transaction([fine, ("create", entity("fine", "q"))])
            raise AssertionError("two partitions in one group")
        except ValueError as error:
            assert "must all be the same" in str(error), error
        equal([row["RowKey"] for row in table.list_entities()], ["there"])

    def access_policies(self):
        table = self._new_table("accesspolicies")
        equal(table.get_table_access_policy(), {})
        start = datetime(2024, 1, 1, tzinfo=timezone.utc)
        expiry = datetime(2034, 1, 1, tzinfo=timezone.utc)
        full = TableAccessPolicy(start=start, expiry=expiry, permission="raud")
        table.set_table_access_policy(
            {"full": full, "reader": TableAccessPolicy(permission="r"), "bare": None}
        )
        found = table.get_table_access_policy()
        equal(list(found), ["full", "reader", "bare"])
        equal((found["full"].start, found["full"].expiry, found["full"].permission), (start, expiry, "raud"))
        equal(found["reader"].permission, "r")
        equal(found["bare"], None)
        table.set_table_access_policy({})
        equal(table.get_table_access_policy(), {})

    def policy_sas(self):
        table = self._table_with_entity("policysas")
        policy = TableAccessPolicy(expiry=datetime.now(timezone.utc) + HOUR, permission="r")
        table.set_table_access_policy({"reader": policy})
        reader = self._with_sas(table, policy_id="reader")
        equal(plain(reader.get_entity("p", "r")), {"a": 1, "b": 2})
        insert = lambda: reader.create_entity({"PartitionKey": "p", "RowKey": "new"})
        refused(HttpResponseError, 403, "AuthorizationPermissionMismatch", insert)
        table.set_table_access_policy({})
        refused(ClientAuthenticationError, 403, "AuthenticationFailed", lambda: reader.get_entity("p", "r"))

    def table_sas(self):
        table = self._new_table("tablesas")
        for partition in ["a", "b", "c"]:
            table.create_entity({"PartitionKey": partition, "RowKey": "r"})
        limited = self._with_sas(
            table,
            permission=TableSasPermissions(read=True, add=True),
            expiry=datetime.now(timezone.utc) + HOUR,
            start_pk="b",
            start_rk="a",
            end_pk="b",
            end_rk="s",
        )
        equal([row["PartitionKey"] for row in limited.list_entities()], ["b"])
        limited.create_entity({"PartitionKey": "b", "RowKey": "q"})
        outside = lambda: limited.create_entity({"PartitionKey": "c", "RowKey": "q"})
        refused(HttpResponseError, 403, "AuthorizationFailure", outside)
        delete = lambda: limited.delete_entity("b", "r")
        refused(HttpResponseError, 403, "AuthorizationPermissionMismatch", delete)

    def service_properties(self):
        retention = TableRetentionPolicy(enabled=True, days=5)
        wanted = {
            "analytics_logging": TableAnalyticsLogging(
                read=True, write=True, delete=False, retention_policy=retention
            ),
            "hour_metrics": TableMetrics(enabled=True, include_apis=True, retention_policy=retention),
            "minute_metrics": TableMetrics(enabled=False),
        }
        self._service.set_service_properties(**wanted)
        found = self._service.get_service_properties()
        logging, hourly, minutely = (found[name] for name in wanted)
        equal((logging.version, logging.read, logging.write, logging.delete), ("1.0", True, True, False))
        equal((hourly.enabled, hourly.include_apis, minutely.enabled), (True, True, False))
        equal((logging.retention_policy.enabled, logging.retention_policy.days), (True, 5))
        equal((hourly.retention_policy.enabled, minutely.retention_policy.enabled), (True, False))
        self._service.set_service_properties(**found)
        equal(repr(self._service.get_service_properties()), repr(found))

    def cors(self):
        origin = "https://app.example.org"
        rule = TableCorsRule(
            [origin],
            ["GET", "PUT"],
            allowed_headers=["x-ms-*"],
            exposed_headers=["x-ms-*"],
            max_age_in_seconds=60,
        )
        self._service.set_service_properties(cors=[rule])
        found = self._service.get_service_properties()["cors"]
        equal([vars(each) for each in found], [vars(rule)])
        equal(self._preflight(origin), (200, origin))
        equal(self._preflight("https://other.example.org"), (403, None))
        self._service.set_service_properties(cors=[])
        equal(self._preflight(origin), (403, None))

    def statistics(self):
        # With the account in the path, the client asks for its secondary at account-secondary/account. So it
        # is given a host of its own, and the service as a proxy instead of a name server that knows that host.
        address = urlsplit(self._clients.url)
        account = self._clients.key.named_key.name
        service = self._clients.service(
            f"http://{account}.table.core.partita.test", proxies={"http": f"http://{address.netloc}"}
        )
        replication = service.get_service_stats()["geo_replication"]
        equal(replication["status"], "live")
        assert abs(replication["last_sync_time"] - datetime.now(timezone.utc)) < HOUR
        return "only where the account is in the host, not in the path"

    def keys(self):
        table = self._new_table("keys")
        for key in UNUSUAL_KEYS:
            for partition, row in [(key, "r"), ("p", key)]:
                entity = {"PartitionKey": partition, "RowKey": row}
                table.create_entity({**entity, "a": 1})
                found = table.get_entity(partition, row)
                equal((found["PartitionKey"], found["RowKey"]), (partition, row))
                query = "PartitionKey eq @partition and RowKey eq @row"
                parameters = {"partition": partition, "row": row}
                equal(len(list(table.query_entities(query, parameters=parameters))), 1, key)
                table.update_entity(
                    {**entity, "b": 2},
                    UpdateMode.MERGE,
                    etag=found.metadata["etag"],
                    match_condition=MatchConditions.IfNotModified,
                )
                table.submit_transaction([("update", {**entity, "c": 3})])
                equal(plain(table.get_entity(partition, row)), {"a": 1, "b": 2, "c": 3}, key)
                table.delete_entity(partition, row)
                gone = lambda: table.get_entity(partition, row)
                refused(ResourceNotFoundError, 404, "ResourceNotFound", gone)

    def errors(self):
        table = self._new_table("errors")
        missing = self._clients.table("neithercreatednordeleted")
        entity = {"PartitionKey": "p", "RowKey": "r"}
        refused(ResourceNotFoundError, 404, "TableNotFound", lambda: missing.create_entity(entity))
        refused(ResourceNotFoundError, 404, "TableNotFound", lambda: missing.get_entity("p", "r"))
        refused(ResourceExistsError, 409, "TableAlreadyExists", table.create_table)
        table.create_entity(entity)
        stale = {"mode": UpdateMode.REPLACE, "etag": STALE, "match_condition": MatchConditions.IfNotModified}
        change = lambda: table.update_entity(entity, **stale)
        refused(ResourceModifiedError, 412, "UpdateConditionNotSatisfied", change)
        long = "x" * 32_768
        large = {"PartitionKey": "p", "RowKey": "large", **{f"part{n}": long for n in range(17)}}
        refused(HttpResponseError, 400, "EntityTooLarge", lambda: table.create_entity(large))
        wide = {"PartitionKey": "p", "RowKey": "wide", "text": f"{long}x"}
        refused(HttpResponseError, 400, "PropertyValueTooLarge", lambda: table.create_entity(wide))
        halves = {"first": long, "second": long}
        heavy = [("create", {"PartitionKey": "p", "RowKey": str(n), **halves}) for n in range(100)]
        refused(RequestTooLargeError, 413, "RequestBodyTooLarge", lambda: table.submit_transaction(heavy))
        # The client knows these refusals by code and text, and raises what it raises for wrong arguments.
        for name in ["a_b", "a"]:
            try:
                self._clients.table(name).create_table()
                raise AssertionError(f"{name} is no name")
            except ValueError as error:
                assert "alphanumeric" in str(error), error

    def retries(self):
        patience = {"retry_total": 3, "retry_backoff_factor": 0.01}
        url = self._clients.flaky_url
        table = self._clients.table(f"{self._clients.prefix}retries", url=url, **patience)
        table.create_table()
        table.create_entity({"PartitionKey": "p", "RowKey": "r", "a": 1})
        equal(plain(table.get_entity("p", "r")), {"a": 1})
        equal(len(list(table.list_entities())), 1)
        table.submit_transaction([("upsert", {"PartitionKey": "p", "RowKey": "r", "a": 2})])
        table.delete_table()
        impatient = self._clients.table(f"{self._clients.prefix}noretries", url=url, retry_total=0)
        refused(HttpResponseError, 503, "ServerBusy", lambda: impatient.get_entity("p", "r"))

    def _new_table(self, name):
        table = self._clients.table(self._clients.prefix + name)
        table.create_table()
        return table

    def _table_with_entity(self, name):
        table = self._new_table(name)
        table.create_entity({"PartitionKey": "p", "RowKey": "r", "a": 1, "b": 2})
        return table

    def _with_sas(self, table, **values):
        token = generate_table_sas(self._clients.key, table.table_name, **values)
        return self._clients.table(table.table_name, credential=AzureSasCredential(token))

    def _preflight(self, origin):
        """The status and the allowed origin that a browser would get."""
        headers = {
            "Origin": origin,
            "Access-Control-Request-Method": "GET",
            "Access-Control-Request-Headers": "x-ms-date",
        }
        request = urllib.request.Request(f"{self._clients.url}/any", headers=headers, method="OPTIONS")
        try:
            with urllib.request.urlopen(request) as answer:
                return answer.status, answer.headers["Access-Control-Allow-Origin"]
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.headers["Access-Control-Allow-Origin"]


def prove(table, with_group=True):
    """Proves that a client may do everything, and leaves nothing behind."""
    table.create_table()
    table.create_entity({"PartitionKey": "p", "RowKey": "r", "a": 1})
    equal(plain(table.get_entity("p", "r")), {"a": 1})
    if with_group:
        table.submit_transaction([("delete", {"PartitionKey": "p", "RowKey": "r"})])
    else:
        table.delete_entity("p", "r")
    equal(list(table.list_entities()), [])
    table.delete_table()


def plain(entity):
    return {name: value for name, value in entity.items() if name not in ("PartitionKey", "RowKey")}


def equal(found, expected, about=""):
    assert found == expected, f"{about} found {found!r} instead of {expected!r}"


def refused(error_type, status, code, call):
    try:
        call()
    except HttpResponseError as error:
        assert type(error) is error_type, f"{type(error).__name__}: {error}"
        equal((error.status_code, code_of(error)), (status, code))
        return error
    raise AssertionError(f"{code} was expected")


def code_of(error):
    """Not every method of the client takes the code out of the answer."""
    return getattr(error, "error_code", None) or error.response.json()["odata.error"]["code"]
