"""Values and pages that are shared with other clients and processes."""

import json
import math
import os
from datetime import datetime
from uuid import UUID

from azure.data.tables import EdmType, EntityProperty

PAGE_ROWS = 7


class Values:
    def __init__(self, clients, table, partition):
        self._table = clients.table_of_connection_string(table)
        self._partition = partition

    def write(self):
        with open(os.environ["TABLES_VALUES"], encoding="utf-8") as file:
            values = json.load(file)
        for value in values:
            part, times = value.get("repeat", (None, 0))
            text = value.get("text", part and part * times)
            self._table.create_entity(
                {
                    "PartitionKey": self._partition,
                    "RowKey": value["name"],
                    "Value": property_of(value["type"], text),
                }
            )
            yield {"wrote": value["name"]}

    def read(self):
        rows = self._table.query_entities(
            "PartitionKey eq @partition", parameters={"partition": self._partition}
        )
        for entity in rows:
            edm_type, text = presented(entity["Value"])
            yield {"read": entity["RowKey"], "type": edm_type, "text": text}


def property_of(edm_type, text):
    """As Python's own type where that holds every value, else as text with a type."""
    if edm_type == "Edm.Boolean":
        return text == "true"
    if edm_type == "Edm.Int32":
        return int(text)
    if edm_type == "Edm.Int64":
        return EntityProperty(int(text), EdmType.INT64)
    if edm_type == "Edm.Double":
        return float(text)
    if edm_type == "Edm.Guid":
        return UUID(text)
    if edm_type == "Edm.DateTime":
        return EntityProperty(text, EdmType.DATETIME)
    if edm_type == "Edm.Binary":
        return bytes.fromhex(text)
    return text


def presented(value):
    if isinstance(value, bool):
        return "Edm.Boolean", str(value).lower()
    if isinstance(value, int):
        return "Edm.Int32", str(value)
    if isinstance(value, EntityProperty):
        return value.edm_type, str(value.value)
    if isinstance(value, float):
        return "Edm.Double", double_text(value)
    if isinstance(value, UUID):
        return "Edm.Guid", str(value)
    if isinstance(value, datetime):
        # What the service wrote is kept beside the six digits that a datetime holds.
        whole, _, fraction = value.tables_service_value.removesuffix("Z").partition(".")
        return "Edm.DateTime", f"{whole}.{fraction:0<7}Z"
    if isinstance(value, bytes):
        return "Edm.Binary", value.hex()
    return "Edm.String", value


def double_text(value):
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "INF" if value > 0 else "-INF"
    return repr(value)


class Pages:
    def __init__(self, clients, table):
        self._table = clients.table_of_connection_string(table)

    def first(self):
        pages = self._table.list_entities(results_per_page=PAGE_ROWS).by_page()
        rows = [entity["RowKey"] for entity in next(iter(pages))]
        return {"rows": rows, "token": json.dumps(pages.continuation_token)}

    def rest(self, token):
        pages = self._table.list_entities(results_per_page=PAGE_ROWS).by_page(json.loads(token))
        return {"rows": [entity["RowKey"] for page in pages for entity in page]}
