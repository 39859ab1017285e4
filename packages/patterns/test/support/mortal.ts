/**
 * A process that dies at a chosen request: before it is sent, or after it was done and before its answer came.
 * Nothing gets through afterwards. One mortal may own several clients; their requests are counted together.
 */
import type { TableClient, TableServiceClient } from '@azure/data-tables'
import {
  ContainerClient,
  newPipeline as newBlobPipeline,
  type RequestPolicyFactory,
  StorageSharedKeyCredential as BlobCredential,
} from '@azure/storage-blob'
import {
  newPipeline as newQueuePipeline,
  QueueClient,
  StorageSharedKeyCredential as QueueCredential,
} from '@azure/storage-queue'
import { developmentAccount } from './azurite.ts'

export interface Death {
  /** The first request is 1. */
  readonly request: number
  readonly when: 'before' | 'after'
  /** Only this request fails; the next ones get through again. */
  readonly recovers?: true
}

export class Died extends Error {
  override readonly name = 'Died'
}

export interface Mortal {
  readonly dead: boolean
  /** Requests that were let through. */
  readonly sent: number
  /** Changes the client given. */
  table<Client extends TableClient | TableServiceClient>(client: Client): Client
  queue(url: string): QueueClient
  container(url: string): ContainerClient
}

/** Lives for ever when no death is given, and counts. */
export function mortal(death?: Death): Mortal {
  const { name, key } = developmentAccount
  // The storage clients know policies of an older make only.
  const factory: RequestPolicyFactory = {
    create: (next) => ({
      sendRequest: async (request) => await live(async () => await next.sendRequest(request)),
    }),
  }
  let dead = false
  let asked = 0
  let sent = 0
  return {
    get dead() {
      return dead
    },
    get sent() {
      return sent
    },
    table(client) {
      client.pipeline.addPolicy({
        name: 'mortal',
        sendRequest: async (request, next) => await live(async () => await next(request)),
      })
      return client
    },
    queue(url) {
      const pipeline = newQueuePipeline(new QueueCredential(name, key))
      pipeline.factories.push(factory)
      return new QueueClient(url, pipeline)
    },
    container(url) {
      const pipeline = newBlobPipeline(new BlobCredential(name, key))
      pipeline.factories.push(factory)
      return new ContainerClient(url, pipeline)
    },
  }

  async function live<Answer>(send: () => Promise<Answer>): Promise<Answer> {
    if (dead) throw new Died('already dead')
    asked += 1
    const fatal = asked === death?.request
    if (fatal && death?.recovers === undefined) dead = true
    if (fatal && death?.when === 'before') throw new Died(`before request ${asked}`)
    sent += 1
    const answer = await send()
    if (fatal || dead) throw new Died(`after request ${death?.request}`)
    return answer
  }
}
