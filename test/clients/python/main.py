"""The Python client, azure-data-tables: its blocking and its asynchronous form."""

import json
import platform
import re
import sys
import traceback
from importlib.metadata import version

from clients import clients_of
from scenarios import scenarios_of
from values import Pages, Values

CLIENT = "azure-data-tables"


def main(form, command, *arguments):
    with clients_of(form) as clients:
        if command == "scenarios":
            run_scenarios(form, clients)
        elif command == "write-values":
            print_lines(Values(clients, *arguments).write())
        elif command == "read-values":
            print_lines(Values(clients, *arguments).read())
        elif command == "page-first":
            print_lines([Pages(clients, *arguments).first()])
        elif command == "page-rest":
            table, token = arguments
            print_lines([Pages(clients, table).rest(token)])
        else:
            raise ValueError(f"unknown command {command}")


def run_scenarios(form, clients):
    identity = {
        "client": f"{CLIENT} ({form})",
        "version": version(CLIENT),
        "runtime": f"Python {platform.python_version()}",
    }
    print_lines([identity])
    for name, scenario in scenarios_of(clients).items():
        try:
            lack = scenario()
            print_lines([{"scenario": name, "ok": True, **({"gap": lack} if lack else {})}])
        except Exception as error:
            traceback.print_exc()
            text = re.sub(r"\s+", " ", str(error)) or repr(error)
            print_lines([{"scenario": name, "ok": False, "error": text}])


def print_lines(lines):
    for line in lines:
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
