"""The two forms of the client behind one surface, so that both run the same scenarios."""

import asyncio
import contextlib
import inspect
import os

from azure.core.credentials import AzureNamedKeyCredential
from azure.data import tables
from azure.data.tables import aio


@contextlib.contextmanager
def clients_of(form):
    """TableClient and TableServiceClient of a form; all that were opened are closed at the end."""
    with contextlib.ExitStack() as opened:
        if form == "sync":
            yield Clients(tables, lambda client: opened.enter_context(client))
        else:
            loop = asyncio.new_event_loop()
            opened.callback(loop.close)

            def open_blocking(client):
                opened.callback(lambda: loop.run_until_complete(client.close()))
                return Blocking(client, loop)

            yield Clients(aio, open_blocking)


class Clients:
    """Opens clients by what the runner tells in the environment."""

    def __init__(self, module, opened):
        self._module = module
        self._opened = opened
        self.url = os.environ["TABLES_URL"]
        self.sas_url = os.environ["TABLES_SAS_URL"]
        self.flaky_url = os.environ["TABLES_FLAKY_URL"]
        self.prefix = os.environ["TABLES_PREFIX"]
        self.connection_string = os.environ["TABLES_CONNECTION_STRING"]
        self.key = AzureNamedKeyCredential(os.environ["TABLES_ACCOUNT"], os.environ["TABLES_KEY"])

    def table(self, name, url=None, credential=None, **options):
        client = self._module.TableClient(url or self.url, name, credential=credential or self.key, **options)
        return self._opened(client)

    def table_of_url(self, url, name):
        """A client that has its credential in the address."""
        return self._opened(self._module.TableClient(url, name))

    def table_of_connection_string(self, name):
        client = self._module.TableClient.from_connection_string(self.connection_string, name)
        return self._opened(client)

    def service(self, url=None, **options):
        client = self._module.TableServiceClient(url or self.url, credential=self.key, **options)
        return self._opened(client)


class Blocking:
    """Takes each step of an asynchronous client, or of what it returned, on a loop, and waits for it."""

    def __init__(self, inner, loop):
        self._inner = inner
        self._loop = loop

    def __getattr__(self, name):
        member = getattr(self._inner, name)
        if not callable(member):
            return member
        return lambda *arguments, **options: self._settled(member(*arguments, **options))

    def __iter__(self):
        steps = self._inner.__aiter__()
        while True:
            try:
                yield self._settled(self._loop.run_until_complete(steps.__anext__()))
            except StopAsyncIteration:
                return

    def _settled(self, result):
        if inspect.isawaitable(result):
            result = self._loop.run_until_complete(result)
        own_client = isinstance(result, (aio.TableClient, aio.TableServiceClient))
        return Blocking(result, self._loop) if own_client or hasattr(result, "__aiter__") else result
