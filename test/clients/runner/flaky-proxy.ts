/** Stands before a service and is busy the first time anything is asked of it. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface FlakyProxy {
  readonly url: string
  close(): void
}

const busy = JSON.stringify({
  'odata.error': { code: 'ServerBusy', message: { lang: 'en-US', value: 'The server is busy.' } },
})

/** Refuses the first request of each method and target with 503, and passes on those that follow. */
export async function startFlakyProxy(serviceUrl: string): Promise<FlakyProxy> {
  const { hostname, port } = new URL(serviceUrl)
  const seen = new Set<string>()
  const server = createServer((incoming, outgoing) => {
    const what = `${incoming.method} ${incoming.url}`
    if (seen.has(what)) return pass(incoming, outgoing)
    seen.add(what)
    // A client may be cut off in the middle of its body if it is answered before that.
    incoming.resume().once('end', () => {
      outgoing.writeHead(503, {
        'Content-Type': 'application/json;odata=minimalmetadata;streaming=true;charset=utf-8',
        'Content-Length': Buffer.byteLength(busy),
        'x-ms-version': incoming.headers['x-ms-version'] ?? '2019-02-02',
      })
      outgoing.end(busy)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }

  function pass(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const onward = request({
      hostname,
      port,
      method: incoming.method,
      path: incoming.url,
      headers: incoming.rawHeaders,
      agent: false,
    })
    onward.once('response', (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.statusMessage, answer.rawHeaders)
      answer.pipe(outgoing)
    })
    onward.once('error', (error) => outgoing.destroy(error))
    incoming.pipe(onward)
  }
}
