import { strict as assert } from 'node:assert'
import { describe, it } from 'node:test'
import { exactRow } from '../../src/exact-row.ts'

describe('a row read exactly', () => {
  it('tells doubles from integers by their text', () => {
    const body = String.raw`{"odata.metadata":"x","odata.etag":"W/\"1\"","PartitionKey":"p","RowKey":"r","a":5.0,"b":5,"c":-1E+20,"d":"\"e\":1.5","e":7,"f\"":2.5,"g":true}`
    const found = {
      'odata.metadata': 'x',
      etag: 'W/"1"',
      timestamp: '2026-11-15T00:00:00Z',
      partitionKey: 'p',
      rowKey: 'r',
      a: { type: 'Int32', value: '5' },
      b: { type: 'Int32', value: '5' },
      c: { type: 'Double', value: '-100000000000000000000' },
      d: { type: 'String', value: '"e":1.5' },
      e: { type: 'Int32', value: '7' },
      'f"': { type: 'Double', value: '2.5' },
      g: { type: 'Boolean', value: 'true' },
    }
    assert.deepEqual(exactRow(found, body), {
      partitionKey: 'p',
      rowKey: 'r',
      a: { type: 'Double', value: 5 },
      b: { type: 'Int32', value: '5' },
      c: { type: 'Double', value: -1e20 },
      d: { type: 'String', value: '"e":1.5' },
      e: { type: 'Int32', value: '7' },
      'f"': { type: 'Double', value: 2.5 },
      g: { type: 'Boolean', value: 'true' },
    })
  })

  it('is refused when the client hides one of its properties', () => {
    for (const name of ['etag', 'timestamp', 'partitionKey', 'rowKey'])
      assert.throws(() => exactRow({}, `{"PartitionKey":"p","RowKey":"r","${name}":"mine"}`), {
        code: 'UnreadableRow',
      })
  })
})
