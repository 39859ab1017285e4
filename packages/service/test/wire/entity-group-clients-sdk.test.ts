/** The JavaScript client library against a running service: what it returns and what it throws. */
import { strict as assert } from 'node:assert'
import { after, before, describe, it } from 'node:test'
import {
  type TableEntityResult,
  TableClient,
  TableTransaction,
  type TransactionAction,
} from '@azure/data-tables'
import type { RunningService } from '../../src/service.ts'
import { startTestedService } from '../support/tested-service.ts'

describe('Entity group transactions by @azure/data-tables', () => {
  let service: RunningService
  let client: TableClient
  before(async () => {
    service = await startTestedService({ data: ':memory:' })
    client = TableClient.fromConnectionString(service.connectionString, 'people', {
      allowInsecureConnection: true,
    })
    await client.createTable()
  })
  after(() => service.close())

  it('a hundred actions of every kind', async () => {
    const seeds = Array.from({ length: 100 }, (_, i) => i).filter((i) => i % 5 !== 0)
    await client.submitTransaction(
      seeds.map((i) => ['create', { partitionKey: 'p', rowKey: rowKey(i), old: i }]),
    )
    const actions = Array.from({ length: 100 }, (_, i): TransactionAction => {
      const entity = { partitionKey: 'p', rowKey: rowKey(i), new: i, when: new Date(0), big: 2n ** 40n }
      if (i % 5 === 0) return ['create', entity]
      if (i % 5 === 1) return ['update', entity, 'Merge']
      if (i % 5 === 2) return ['update', entity, 'Replace', { etag: '*' }]
      return i % 5 === 3 ? ['upsert', entity, 'Merge'] : ['delete', entity]
    })
    const result = await client.submitTransaction(actions)
    assert.equal(result.status, 202)
    assert.deepEqual(
      result.subResponses.map((each) => each.status),
      Array<number>(100).fill(204),
    )
    assert.equal(result.getResponseForEntity('000')?.rowKey, '000')
    assert(result.subResponses.every(({ etag }, i) => (etag === undefined) === (i % 5 === 4)))
    for (const [i, present, old] of [
      [0, true, false],
      [1, true, true],
      [2, true, false],
      [3, true, true],
      [4, false, false],
    ] as const) {
      const found = await entity(rowKey(i))
      assert.deepEqual([found !== undefined, found?.['old'] !== undefined], [present, old], `${i}`)
      if (found !== undefined) assert.deepEqual([found['new'], found['big']], [i, 2n ** 40n])
    }
  })

  it('its transaction object, with keys that need escaping', async () => {
    const transaction = new TableTransaction()
    for (const rowKey of ["O'Brien", 'ñandú 日本', 'a b+c%d=e&f'])
      transaction.createEntity({ partitionKey: "q'é", rowKey })
    const { subResponses } = await client.submitTransaction(transaction.actions)
    assert.deepEqual(
      subResponses.map((each) => each.status),
      [204, 204, 204],
    )
    assert.equal((await client.getEntity("q'é", 'a b+c%d=e&f')).partitionKey, "q'é")
  })

  const refused: readonly [
    what: string,
    actions: TransactionAction[],
    status: number,
    code: string,
    message: RegExp,
  ][] = [
    [
      'a conflict',
      [
        ['create', { partitionKey: 'r', rowKey: '1' }],
        ['create', { partitionKey: 'r', rowKey: 'old' }],
      ],
      409,
      'EntityAlreadyExists',
      /^1:The specified entity already exists/,
    ],
    [
      'a missing entity',
      [
        ['delete', { partitionKey: 'r', rowKey: '1' }],
        ['create', { partitionKey: 'r', rowKey: '2' }],
      ],
      404,
      'ResourceNotFound',
      /^0:The specified resource/,
    ],
    [
      'a stale ETag',
      [
        ['upsert', { partitionKey: 'r', rowKey: '1' }],
        ['upsert', { partitionKey: 'r', rowKey: '2' }],
        [
          'update',
          { partitionKey: 'r', rowKey: 'old' },
          'Merge',
          { etag: `W/"datetime'2001-01-01T00%3A00%3A00Z'"` },
        ],
      ],
      412,
      'UpdateConditionNotSatisfied',
      /^2:The update condition/,
    ],
    [
      'a duplicate',
      [
        ['upsert', { partitionKey: 'r', rowKey: '1' }],
        ['upsert', { partitionKey: 'r', rowKey: '1' }],
      ],
      400,
      'InvalidDuplicateRow',
      /^1:The batch request contains/,
    ],
    [
      '101 actions',
      Array.from({ length: 101 }, (_, i) => ['upsert', { partitionKey: 'r', rowKey: `${i}` }]),
      400,
      'InvalidInput',
      /^99:The batch request operation exceeds/,
    ],
  ]
  for (const [what, actions, status, code, message] of refused) {
    it(`${what}: status, code and index`, async () => {
      await client.upsertEntity({ partitionKey: 'r', rowKey: 'old' })
      await assert.rejects(
        client.submitTransaction(actions),
        (error: { statusCode?: number; code?: string; message: string }) => {
          assert.deepEqual([error.statusCode, error.code], [status, code])
          assert.match(error.message, message)
          return true
        },
      )
      await assert.rejects(client.getEntity('r', '1'), { statusCode: 404 })
    })
  }

  it('a table that is not there', async () => {
    const nowhere = TableClient.fromConnectionString(service.connectionString, 'nowhere', {
      allowInsecureConnection: true,
    })
    await assert.rejects(nowhere.submitTransaction([['create', { partitionKey: 'p', rowKey: '1' }]]), {
      statusCode: 404,
      code: 'TableNotFound',
    })
  })

  async function entity(rowKey: string): Promise<TableEntityResult<Record<string, unknown>> | undefined> {
    try {
      return await client.getEntity('p', rowKey)
    } catch (error) {
      assert.equal((error as { statusCode?: number }).statusCode, 404)
      return undefined
    }
  }
})

function rowKey(i: number): string {
  return i.toString().padStart(3, '0')
}
